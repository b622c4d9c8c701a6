// The ledger alone, as an operator other than the service's runs it: the same object that the service embeds, in another
// account, under that operator's key. wrangler.toml beside this file deploys it.
import type { LedgerEnv } from "../../durable-objects/ledger-log/access.ts";
import type { LedgerLog } from "../../durable-objects/ledger-log/object.ts";

export { LedgerLog } from "../../durable-objects/ledger-log/object.ts";

interface Env extends LedgerEnv {
  readonly LEDGER_LOG: DurableObjectNamespace<LedgerLog>;
}

export default {
  fetch: (request: Request, env: Env): Promise<Response> => env.LEDGER_LOG.getByName(env.LEDGER_ORIGIN ?? "").fetch(request),
} satisfies ExportedHandler<Env>;
