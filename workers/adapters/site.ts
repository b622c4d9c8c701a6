// Which hosts belong together: a registrable domain and everything below it. Only the Public Suffix List knows that
// `a.co.uk` and `b.co.uk` are strangers, and that so are two blogs of one hosting company.
import { getDomain } from "tldts";

/** The registrable domain of a host; a host without one (an address, `localhost`, a public suffix) is a site of its own. */
export const siteOf = (hostname: string): string => getDomain(hostname, { allowPrivateDomains: true }) ?? hostname;
