// Which hosts belong together: a registrable domain and everything below it. Only the Public Suffix List knows that
// `a.co.uk` and `b.co.uk` are strangers, and that so are two blogs of one hosting company.
import { getDomain } from "tldts";

/** The domain that somebody registered, of a host in it; null for an address, a name of one label and a public suffix. */
export const getRegistrableDomain = (hostname: string): string | null => getDomain(hostname, { allowPrivateDomains: true });

/** The registrable domain of a host; a host without one (an address, `localhost`, a public suffix) is a site of its own. */
export const getSite = (hostname: string): string => getRegistrableDomain(hostname) ?? hostname;
