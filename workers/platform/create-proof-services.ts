// Creates the proof services from the settings: the ledgers that receive statements, the published keys, and the witnesses and timestamp
// authorities that attest checkpoints.
import { firstShard, type RandomBytes, type ShardId } from "../../core/ids.ts";
import type { LedgerAdapter } from "../../core/ledger/adapter.ts";
import type { Attestor } from "../../core/ledger/attestor.ts";
import { defaultValidFrom, isKeyInUse } from "../../core/ledger/key-validity.ts";
import { getAuditOrigin, getLedgerOrigin, getWitnessName } from "../../core/ledger/log-names.ts";
import { formatVkey, keyKinds, parseSkey, type KeyKind, type VerifierKey } from "../../core/ledger/note.ts";
import type { TrustedLogKey } from "../../core/ledger/receipt.ts";
import type { MirrorSettings } from "../../core/ledger/settings.ts";
import { toIso, type Clock, type Instant } from "../../core/time.ts";
import { listEarlierKeys, noteCrypto, openKeysNamed } from "../../storage/note-keys.ts";
import { createTimestampAttestor } from "../adapters/attestor-rfc3161.ts";
import { createWitnessAttestor } from "../adapters/attestor-witness.ts";
import type { SendRequest } from "../adapters/exchange.ts";
import { openAnchorKey, createRekorAdapter, type AnchorKey } from "../adapters/ledger-rekor2.ts";
import { createTlogAdapter } from "../adapters/ledger-tlog.ts";
import { ConfigError, type Config } from "../env.ts";

export interface TrustedLog extends TrustedLogKey {
  readonly role: "primary" | "mirror" | "audit";
}

/** A witness or timestamp authority, and the logs whose checkpoints it attests. */
export interface CheckpointAttestor extends Attestor {
  /** `guard`: the witness that the ledger service runs. It cosigns only checkpoints of audit logs, and never two conflicting histories. */
  readonly scope: "every log" | "guard";
  /** Returns whether new checkpoints are sent to the attestor at this time. If missing, they always are. */
  readonly isInUse?: (at: Instant) => boolean;
}

export interface ProofServices {
  /** Published keys of the ledgers and of the audit logs. */
  readonly trustedLogs: readonly TrustedLog[];
  /** Note-format public keys of the witnesses whose cosignatures are accepted. */
  readonly witnessKeys: readonly string[];
  /**
   * Returns the ledgers that receive a shard's statements: first the primary ledger, and then the mirrors, which receive only statements
   * about checkpoints. For a shard without a database, returns the first shard's ledgers.
   */
  readonly ledgersOf: (shard: ShardId) => readonly LedgerAdapter[];
  /** Earlier embedded ledgers. They get no more statements, but still prove the statements that they contain. */
  readonly earlierLedgers: readonly LedgerAdapter[];
  readonly attestors: readonly CheckpointAttestor[];
  /** Signs entries for Rekor. Null if Rekor is not used. */
  readonly anchorKey: AnchorKey | null;
}

/**
 * Creates a function that opens the keys with the given name. It throws ConfigError if there is no key, or if a secret in the setting is
 * invalid.
 */
const createKeyOpener =
  (setting: string, secrets: readonly string[], logSeed: string, kind: KeyKind = keyKinds.log) =>
  async (name: string): Promise<readonly VerifierKey[]> => {
    try {
      return (await openKeysNamed({ secrets: secrets.join(" "), logSeed }, name, kind)).map(({ key }) => key);
    } catch {
      throw new ConfigError([setting]);
    }
  };

const loadAnchorKey = async (secret: string): Promise<AnchorKey> => {
  try {
    return await openAnchorKey(secret);
  } catch {
    throw new ConfigError(["ANCHOR_KEY"]);
  }
};

/**
 * Creates the proof services for these shards. `sendToEmbedded` sends HTTP requests to the embedded ledgers, and `sendToNetwork` to all
 * other services.
 */
export const createProofServices = async (
  config: Config,
  shards: readonly ShardId[],
  sendToEmbedded: SendRequest,
  clock: Clock,
  random: RandomBytes,
  sendToNetwork: SendRequest = (request) => fetch(request),
): Promise<ProofServices> => {
  const { ledger, mirrors } = config;
  const listTrustedLogs = (origin: string, vkeys: readonly string[], role: TrustedLog["role"]): TrustedLog[] =>
    vkeys.map((vkey) => ({ origin, vkey, ...(config.keyValidityByVkey.get(vkey) ?? { validFrom: defaultValidFrom }), role }));
  const isEmbedded = ledger.url === "";
  const baseUrl = isEmbedded ? `https://${ledger.origin}` : ledger.url;
  const send = isEmbedded ? sendToEmbedded : sendToNetwork;
  const { logSeed } = config;
  const openLedgerKeys = createKeyOpener("LEDGER_KEY", ledger.keys, logSeed);
  const openAuditKeys = createKeyOpener("AUDIT_KEY", config.auditKeys, logSeed);
  const auditOrigins = shards.map((shard) => getAuditOrigin(config.baseUrl, shard));
  const auditKeys = (await Promise.all(auditOrigins.map(openAuditKeys))).flat();
  const witnessSecrets = ledger.witnessKey === null ? [] : [ledger.witnessKey];
  const openWitnessKeys = createKeyOpener("LEDGER_WITNESS_KEY", witnessSecrets, logSeed, keyKinds.witness);
  const guardKeys = isEmbedded ? await openWitnessKeys(parseSkey(ledger.witnessKey ?? "")?.name ?? getWitnessName(ledger.origin)) : [];
  const anchorKey = config.anchorKey === null ? null : await loadAnchorKey(config.anchorKey);

  const createAdapter = (
    endpoint: MirrorSettings,
    role: "primary" | "mirror",
    trust: readonly TrustedLogKey[],
    sendRequest: SendRequest,
  ): LedgerAdapter => {
    const { origin, writeToken } = endpoint;
    const common = { origin, role, baseUrl: endpoint.url === "" ? `https://${origin}` : endpoint.url, trust };
    if (endpoint.kind === "tlog") return createTlogAdapter({ ...common, writeToken }, sendRequest, noteCrypto, clock);
    if (anchorKey === null) throw new ConfigError(["ANCHOR_KEY"]);
    return createRekorAdapter({ ...common, retiredAnchorKeys: config.retiredAnchorKeys }, anchorKey, sendRequest, noteCrypto, clock);
  };

  const listEarlierLogs = async (origin: string, role: TrustedLog["role"]): Promise<readonly TrustedLog[]> =>
    (await listEarlierKeys(logSeed, origin)).map(({ key, validTo }) => ({
      origin,
      vkey: formatVkey(key),
      validFrom: defaultValidFrom,
      validTo,
      role,
    }));

  /** Creates the adapter for a shard's primary ledger, and lists the keys to trust for it. An external ledger serves all shards. */
  const createPrimary = async (shard: ShardId) => {
    const origin = isEmbedded ? getLedgerOrigin(ledger.origin, shard) : ledger.origin;
    const ownKeys = isEmbedded ? await openLedgerKeys(origin) : [];
    const pinned = ledger.vkeys.filter((vkey) => ledger.kind === "rekor2" || vkey.startsWith(`${origin}+`));
    const earlier = isEmbedded ? await listEarlierLogs(origin, "primary") : [];
    const keys = [...listTrustedLogs(origin, [...new Set([...ownKeys.map(formatVkey), ...pinned])], "primary"), ...earlier];
    return { shard, keys, adapter: createAdapter({ ...ledger, origin }, "primary", keys, send) };
  };
  const primaries = await Promise.all((isEmbedded ? shards : [firstShard]).map(createPrimary));
  const earlierKeys = ledger.retiredKeys.flatMap(({ origin, vkey }) => listTrustedLogs(origin, [vkey], "primary"));
  const [ledgerHost] = ledger.origin.split("/");
  // An earlier ledger on another host was external, so its URL is not known.
  const earlierOrigins = isEmbedded
    ? [...new Set(earlierKeys.map(({ origin }) => origin).filter((origin) => origin.startsWith(`${ledgerHost}/`)))]
    : [];
  const mirrorKeys = mirrors.map((mirror) => listTrustedLogs(mirror.origin, mirror.vkeys, "mirror"));
  const currentAuditKeys = auditKeys.map((key) => ({ origin: key.name, vkey: formatVkey(key) }));
  // AUDIT_VKEY can also contain keys of other deployments' logs. Publish only the earlier keys of this deployment's logs.
  const earlierAuditKeys = config.auditVkeys
    .map((vkey) => ({ origin: vkey.slice(0, vkey.indexOf("+")), vkey }))
    .filter(
      ({ origin, vkey }) => currentAuditKeys.some((key) => key.origin === origin) && !currentAuditKeys.some((key) => key.vkey === vkey),
    );
  const mirrorAdapters = mirrors.map((mirror, at) => createAdapter(mirror, "mirror", mirrorKeys[at] ?? [], sendToNetwork));
  const ledgersByShard = new Map(primaries.map(({ shard, adapter }) => [shard, [adapter, ...mirrorAdapters]]));
  const earlierAuditLogs = (await Promise.all(auditOrigins.map((origin) => listEarlierLogs(origin, "audit")))).flat();
  return {
    trustedLogs: [
      ...primaries.flatMap(({ keys }) => keys),
      ...earlierKeys,
      ...mirrorKeys.flat(),
      ...[...currentAuditKeys, ...earlierAuditKeys].flatMap(({ origin, vkey }) => listTrustedLogs(origin, [vkey], "audit")),
      ...earlierAuditLogs,
    ],
    witnessKeys: [...new Set([...guardKeys.map(formatVkey), ...config.witnesses.map(({ vkey }) => vkey)])],
    ledgersOf: (shard) => ledgersByShard.get(shard) ?? ledgersByShard.get(firstShard) ?? [],
    earlierLedgers: earlierOrigins.map((origin) =>
      createAdapter(
        { ...ledger, origin },
        "primary",
        earlierKeys.filter((key) => key.origin === origin),
        send,
      ),
    ),
    attestors: [
      ...guardKeys.map((key) => ({ ...createWitnessAttestor({ key, baseUrl }, send, noteCrypto, clock), scope: "guard" as const })),
      ...config.witnesses.map(({ key, url }) => ({
        ...createWitnessAttestor({ key, baseUrl: url }, sendToNetwork, noteCrypto, clock),
        // The witness that a ledger runs does not cosign that ledger's own checkpoints.
        scope: url === ledger.url ? ("guard" as const) : ("every log" as const),
      })),
      // An authority whose keys have all expired gets no more checkpoints. It is listed so that its earlier timestamps can still be
      // verified.
      ...config.authorities.map((authority) => ({
        ...createTimestampAttestor(authority, sendToNetwork, random, clock),
        scope: "every log" as const,
        isInUse: (at: Instant) => authority.pins.some((pin) => isKeyInUse(pin, toIso(at))),
      })),
    ],
    anchorKey,
  };
};
