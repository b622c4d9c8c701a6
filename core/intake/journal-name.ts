// The journal that stores a client's certificates while their database does not respond. A shard has 32 journals, one for each letter that
// an ID can contain. A client's letter is the last character of its ID, and it is also the first character after the shard in the IDs of
// its certificates. The journal's name can therefore be read from a certificate's ID without a lookup.
import type { CertId, ClientId, ShardId } from "../ids.ts";

/** The name of a journal: a shard and a letter, such as `00k`. */
export type JournalName = string;

const shardEnd = "cc_00".length;

/** Returns the journal for a client's certificates in the shard. */
export const journalOfClient = (shard: ShardId, clientId: ClientId): JournalName => `${shard}${clientId.at(-1)}`;

export const journalOfCertificate = (certId: CertId): JournalName => certId.slice("cc_".length, shardEnd + 1);
