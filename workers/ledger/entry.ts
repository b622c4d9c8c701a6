// A standalone ledger: the Durable Object that the service also embeds, deployed by another operator, in another account and with that
// operator's key. The wrangler.toml in this folder deploys it.
import type { LedgerEnv } from "../../durable-objects/ledger-log/access.ts";
import type { LedgerLog } from "../../durable-objects/ledger-log/object.ts";

export { LedgerLog } from "../../durable-objects/ledger-log/object.ts";

interface Env extends LedgerEnv {
  readonly LEDGER_LOG: DurableObjectNamespace<LedgerLog>;
}

export default {
  fetch: (request: Request, env: Env): Promise<Response> => env.LEDGER_LOG.getByName(env.LEDGER_ORIGIN ?? "").fetch(request),
} satisfies ExportedHandler<Env>;
