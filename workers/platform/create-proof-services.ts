// Creates, from the settings, everything used to prove records: the ledgers that receive statements, the published keys, and the witnesses
// and timestamp authorities that attest checkpoints.
import type { RandomBytes } from "../../core/ids.ts";
import type { LedgerAdapter } from "../../core/ledger/adapter.ts";
import type { Attestor } from "../../core/ledger/attestor.ts";
import { defaultValidFrom, type KeyValidity } from "../../core/ledger/key-validity.ts";
import { formatVkey, type VerifierKey } from "../../core/ledger/note.ts";
import type { TrustedLogKey } from "../../core/ledger/receipt.ts";
import type { MirrorSettings } from "../../core/ledger/settings.ts";
import type { Clock } from "../../core/time.ts";
import { noteCrypto, openNoteSigner } from "../../storage/note-keys.ts";
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
  /** `guard`: the ledger's own witness, which watches only the audit log and refuses to cosign a second history. */
  readonly scope: "every log" | "guard";
}

export interface ProofServices {
  /** Published keys of the ledgers and of the audit log. */
  readonly trustedLogs: readonly TrustedLog[];
  /** Note-format public keys of the witnesses whose cosignatures are accepted. */
  readonly witnessKeys: readonly string[];
  /** The primary ledger comes first, followed by the mirrors, which receive only checkpoints. */
  readonly ledgers: readonly LedgerAdapter[];
  readonly attestors: readonly CheckpointAttestor[];
  /** Signs entries for Rekor. Null if Rekor is not used. */
  readonly anchorKey: AnchorKey | null;
}

/** Opens the secrets in one setting. Throws ConfigError if a secret is malformed or its key ID does not match its key. */
const openVerifierKeys = async (setting: string, secrets: readonly string[]): Promise<VerifierKey[]> => {
  try {
    return await Promise.all(secrets.map(async (secret) => (await openNoteSigner(secret)).key));
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

type ListTrustedLogs = (origin: string, vkeys: readonly string[], role: TrustedLog["role"]) => TrustedLog[];

const createTrustedLogLister =
  (validityByVkey: ReadonlyMap<string, KeyValidity>): ListTrustedLogs =>
  (origin, vkeys, role) =>
    vkeys.map((vkey) => ({ origin, vkey, ...(validityByVkey.get(vkey) ?? { validFrom: defaultValidFrom }), role }));

/**
 * Creates the proof services. `sendToEmbedded` is the embedded ledger's HTTP interface. All other services are reached over the network.
 */
export const createProofServices = async (
  config: Config,
  sendToEmbedded: SendRequest,
  clock: Clock,
  random: RandomBytes,
): Promise<ProofServices> => {
  const { ledger, mirrors } = config;
  const listTrustedLogs = createTrustedLogLister(config.keyValidityByVkey);
  const sendToNetwork: SendRequest = (request) => fetch(request);
  const isEmbedded = ledger.url === "";
  const baseUrl = isEmbedded ? `https://${ledger.origin}` : ledger.url;
  const send = isEmbedded ? sendToEmbedded : sendToNetwork;
  const ledgerKeys = await openVerifierKeys("LEDGER_KEY", ledger.keys);
  const auditKeys = await openVerifierKeys("AUDIT_KEY", [...config.auditKeys.values()].flat());
  const guardKeys = await openVerifierKeys("LEDGER_WITNESS_KEY", ledger.witnessKey === null ? [] : [ledger.witnessKey]);
  const anchorKey = config.anchorKey === null ? null : await loadAnchorKey(config.anchorKey);

  const createAdapter = (
    endpoint: MirrorSettings,
    role: "primary" | "mirror",
    trust: readonly TrustedLogKey[],
    sendRequest: SendRequest,
  ): LedgerAdapter => {
    const { origin, writeToken } = endpoint;
    const common = { origin, role, baseUrl: role === "primary" ? baseUrl : endpoint.url, trust };
    if (endpoint.kind === "tlog") return createTlogAdapter({ ...common, writeToken }, sendRequest, noteCrypto, clock);
    if (anchorKey === null) throw new ConfigError(["ANCHOR_KEY"]);
    return createRekorAdapter({ ...common, retiredAnchorKeys: config.retiredAnchorKeys }, anchorKey, sendRequest, noteCrypto, clock);
  };

  const primaryKeys = listTrustedLogs(ledger.origin, [...ledgerKeys.map(formatVkey), ...ledger.vkeys], "primary");
  const mirrorKeys = mirrors.map((mirror) => listTrustedLogs(mirror.origin, mirror.vkeys, "mirror"));
  const currentAuditKeys = auditKeys.map((key) => ({ origin: key.name, vkey: formatVkey(key) }));
  // AUDIT_VKEY can also contain other deployments' logs that this ledger watches. Only our own logs' earlier keys are published.
  const earlierAuditKeys = config.auditVkeys
    .map((vkey) => ({ origin: vkey.slice(0, vkey.indexOf("+")), vkey }))
    .filter(
      ({ origin, vkey }) => currentAuditKeys.some((key) => key.origin === origin) && !currentAuditKeys.some((key) => key.vkey === vkey),
    );
  return {
    trustedLogs: [
      ...primaryKeys,
      ...ledger.retiredKeys.flatMap(({ origin, vkey }) => listTrustedLogs(origin, [vkey], "primary")),
      ...mirrorKeys.flat(),
      ...[...currentAuditKeys, ...earlierAuditKeys].flatMap(({ origin, vkey }) => listTrustedLogs(origin, [vkey], "audit")),
    ],
    witnessKeys: [...new Set([...guardKeys.map(formatVkey), ...config.witnesses.map(({ vkey }) => vkey)])],
    ledgers: [
      createAdapter(ledger, "primary", primaryKeys, send),
      ...mirrors.map((mirror, at) => createAdapter(mirror, "mirror", mirrorKeys[at] ?? [], sendToNetwork)),
    ],
    attestors: [
      ...guardKeys.map((key) => ({ ...createWitnessAttestor({ key, baseUrl }, send, noteCrypto, clock), scope: "guard" as const })),
      ...config.witnesses.map(({ key, url }) => ({
        ...createWitnessAttestor({ key, baseUrl: url }, sendToNetwork, noteCrypto, clock),
        scope: url === ledger.url ? ("guard" as const) : ("every log" as const), // a ledger does not cosign its own checkpoints
      })),
      ...config.authorities.map((authority) => ({
        ...createTimestampAttestor(authority, sendToNetwork, random, clock),
        scope: "every log" as const,
      })),
    ],
    anchorKey,
  };
};
