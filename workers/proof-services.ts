// What proves: the ledgers that statements go to, the keys that readers pin, and who attests checkpoints. Opened once with the
// platform, from the settings.
import type { RandomBytes } from "../core/ids.ts";
import type { LedgerAdapter } from "../core/ledger/adapter.ts";
import type { Attestor } from "../core/ledger/attestor.ts";
import { defaultValidFrom, type KeyValidity } from "../core/ledger/key-validity.ts";
import { formatVkey, type VerifierKey } from "../core/ledger/note.ts";
import type { TrustedLogKey } from "../core/ledger/receipt.ts";
import type { MirrorSettings } from "../core/ledger/settings.ts";
import type { Clock } from "../core/time.ts";
import { noteCrypto, openNoteSigner } from "../storage/note-keys.ts";
import { createTimestampAttestor } from "./adapters/attestor-rfc3161.ts";
import { createWitnessAttestor } from "./adapters/attestor-witness.ts";
import type { SendRequest } from "./adapters/exchange.ts";
import { openAnchorKey, createRekorAdapter, type AnchorKey } from "./adapters/ledger-rekor2.ts";
import { createTlogAdapter } from "./adapters/ledger-tlog.ts";
import { ConfigError, type Config } from "./env.ts";

export interface TrustedLog extends TrustedLogKey {
  readonly role: "primary" | "mirror" | "audit";
}

/** Somebody who attests checkpoints, and of which logs. */
export interface CheckpointAttestor extends Attestor {
  /** `guard`: the ledger's own witness, here or elsewhere, which watches the audit log and refuses a second history of it. */
  readonly scope: "every log" | "guard";
}

export interface ProofServices {
  /** Keys of the ledgers and of the audit log, as published for those who check proofs. */
  readonly trustedLogs: readonly TrustedLog[];
  /** One-line keys of the witnesses whose lines may stand in checkpoints. */
  readonly witnessKeys: readonly string[];
  /** Where statements are anchored: the primary first. Mirrors take checkpoints only. */
  readonly ledgers: readonly LedgerAdapter[];
  readonly attestors: readonly CheckpointAttestor[];
  /** The key that signs what Rekor logs; null where there is no such ledger. */
  readonly anchorKey: AnchorKey | null;
}

/** Opens secrets of one setting; what cannot be opened, or whose key id is another key's, is the setting's fault. */
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

type PinKeys = (origin: string, vkeys: readonly string[], role: TrustedLog["role"]) => TrustedLog[];

const createPinner =
  (windows: ReadonlyMap<string, KeyValidity>): PinKeys =>
  (origin, vkeys, role) =>
    vkeys.map((vkey) => ({ origin, vkey, ...(windows.get(vkey) ?? { validFrom: defaultValidFrom }), role }));

/** `embedded` is the HTTP interface of the ledger in this deployment; everything else is reached over the network. */
export const createProofServices = async (
  config: Config,
  embedded: SendRequest,
  clock: Clock,
  random: RandomBytes,
): Promise<ProofServices> => {
  const { ledger, mirrors } = config;
  const pinned = createPinner(config.keyValidityByVkey);
  const network: SendRequest = (request) => fetch(request);
  const isEmbedded = ledger.url === "";
  const baseUrl = isEmbedded ? `https://${ledger.origin}` : ledger.url;
  const send = isEmbedded ? embedded : network;
  const ledgerKeys = await openVerifierKeys("LEDGER_KEY", ledger.keys);
  const auditKeys = await openVerifierKeys("AUDIT_KEY", [...config.auditKeys.values()].flat());
  const guardKeys = await openVerifierKeys("LEDGER_WITNESS_KEY", ledger.witnessKey === null ? [] : [ledger.witnessKey]);
  const anchorKey = config.anchorKey === null ? null : await loadAnchorKey(config.anchorKey);

  const adapterOf = (
    place: MirrorSettings,
    role: "primary" | "mirror",
    trust: readonly TrustedLogKey[],
    via: SendRequest,
  ): LedgerAdapter => {
    const { origin, writeToken } = place;
    const common = { origin, role, baseUrl: role === "primary" ? baseUrl : place.url, trust };
    if (place.kind === "tlog") return createTlogAdapter({ ...common, writeToken }, via, noteCrypto, clock);
    if (anchorKey === null) throw new ConfigError(["ANCHOR_KEY"]);
    return createRekorAdapter({ ...common, retiredAnchorKeys: config.retiredAnchorKeys }, anchorKey, via, noteCrypto, clock);
  };

  const primaryKeys = pinned(ledger.origin, [...ledgerKeys.map(formatVkey), ...ledger.vkeys], "primary");
  const mirrorKeys = mirrors.map((mirror) => pinned(mirror.origin, mirror.vkeys, "mirror"));
  const auditPins = auditKeys.map((key) => ({ origin: key.name, vkey: formatVkey(key) }));
  // AUDIT_VKEY may name logs of others too, which the ledger here watches; ours keep their earlier keys.
  const earlierPins = config.auditVkeys
    .map((vkey) => ({ origin: vkey.slice(0, vkey.indexOf("+")), vkey }))
    .filter(({ origin, vkey }) => auditPins.some((pin) => pin.origin === origin) && !auditPins.some((pin) => pin.vkey === vkey));
  return {
    trustedLogs: [
      ...primaryKeys,
      ...ledger.retiredKeys.flatMap(({ origin, vkey }) => pinned(origin, [vkey], "primary")),
      ...mirrorKeys.flat(),
      ...[...auditPins, ...earlierPins].flatMap(({ origin, vkey }) => pinned(origin, [vkey], "audit")),
    ],
    witnessKeys: [...new Set([...guardKeys.map(formatVkey), ...config.witnesses.map(({ vkey }) => vkey)])],
    ledgers: [
      adapterOf(ledger, "primary", primaryKeys, send),
      ...mirrors.map((mirror, at) => adapterOf(mirror, "mirror", mirrorKeys[at] ?? [], network)),
    ],
    attestors: [
      ...guardKeys.map((key) => ({ ...createWitnessAttestor({ key, baseUrl }, send, noteCrypto, clock), scope: "guard" as const })),
      ...config.witnesses.map(({ key, url }) => ({
        ...createWitnessAttestor({ key, baseUrl: url }, network, noteCrypto, clock),
        scope: url === ledger.url ? ("guard" as const) : ("every log" as const), // a ledger does not cosign itself
      })),
      ...config.authorities.map((authority) => ({
        ...createTimestampAttestor(authority, network, random, clock),
        scope: "every log" as const,
      })),
    ],
    anchorKey,
  };
};
