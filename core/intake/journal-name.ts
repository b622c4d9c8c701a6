// A journal stores certificates while the shard's database does not respond. A shard has 32 journals, one for each character of the ID
// alphabet. A client uses the journal for the last character of the client's ID. That character is also part of the IDs of the client's
// certificates, so no lookup is needed to find a certificate's journal.
import { crockfordAlphabet, type CertId, type ClientId, type ShardId } from "../ids.ts";

/** The name of a journal: a shard and one character, such as `00k`. */
export type JournalName = string;

const shardEnd = "cc_00".length;

/** Returns the journal for a client's certificates in the shard. */
export const journalOfClient = (shard: ShardId, clientId: ClientId): JournalName => `${shard}${clientId.at(-1)}`;

export const journalOfCertificate = (certId: CertId): JournalName => certId.slice("cc_".length, shardEnd + 1);

/** Returns the shard's journals that can contain certificates of these clients, or all of its journals if `clientIds` is null. */
export const listJournals = (shard: ShardId, clientIds: readonly ClientId[] | null): readonly JournalName[] =>
  clientIds === null
    ? [...crockfordAlphabet].map((character) => `${shard}${character}`)
    : [...new Set(clientIds.map((clientId) => journalOfClient(shard, clientId)))];
