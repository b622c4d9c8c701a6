// The journal that stores a client's certificates while the shard's database does not respond. A shard has 32 journals, one for each letter
// that an ID can contain. The last character of a client's ID is its letter. It is also the first character after the shard in the IDs of
// the client's certificates, so a certificate's ID gives the name of its journal without a lookup.
import type { CertId, ClientId, ShardId } from "../ids.ts";

/** The name of a journal: a shard and a letter, such as `00k`. */
export type JournalName = string;

const shardEnd = "cc_00".length;

/** Returns the journal for a client's certificates in the shard. */
export const journalOfClient = (shard: ShardId, clientId: ClientId): JournalName => `${shard}${clientId.at(-1)}`;

export const journalOfCertificate = (certId: CertId): JournalName => certId.slice("cc_".length, shardEnd + 1);
