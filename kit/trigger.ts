// `svc trigger`: makes a change in the sandbox, so that the matching event appears in the feed and is delivered to test endpoints.
import { getApiUrl, UsageError, parseArguments, requireTestKey } from "./arguments.ts";
import { createSvc, type SandboxTrigger } from "./client.ts";

export const triggerHelp = `Usage: svc trigger <event> [options]

  Makes a change in test mode that causes this event: share.created, share.renewed, share.revoked, business.ceased,
  share.expiring, share.expired, consumer.updated.email, .phone, .address or .name. Prints the event as it is sent.

  --share <id>   use this test share. Default: a new one
  --field <k=v>  for consumer.updated.*: the new value of a field, for example --field email=new@example.com
  --api <url>    URL of the service. Default: SVC_API or http://localhost:8787

The API key is read from SVC_API_KEY and must be a test key.
Exit codes: 0 triggered; 1 the service refused or did not respond; 2 wrong usage.
`;

const parseFieldOption = (text: string | undefined): Pick<SandboxTrigger, "fields"> => {
  if (text === undefined) return {};
  const [, key, value] = /^([a-z_0-9]+)=(.*)$/.exec(text) ?? [];
  if (key === undefined || value === undefined) throw new UsageError("--field must be key=value, such as email=new@example.com.");
  return { fields: { [key]: value } };
};

/** Runs the command and returns its exit code. */
export const runTrigger = async (args: readonly string[]): Promise<number> => {
  const options = parseArguments(args, ["--share", "--field", "--api"], []);
  const [type, ...extra] = options.positionals;
  if (type === undefined || extra.length > 0) throw new UsageError("svc trigger takes one event type, such as share.created.");
  const [api, key] = [getApiUrl(options), requireTestKey()];
  const share = options.values.get("--share");
  const svc = createSvc({ baseUrl: api, apiKey: key });
  const body = {
    type,
    ...(share !== undefined && { share_id: share }),
    ...parseFieldOption(options.values.get("--field")),
  } as SandboxTrigger;
  const { data, error } = await svc.triggerSandboxEvent({ body });
  if (error !== undefined) {
    process.stderr.write(`Nothing was triggered: ${error.code}: ${error.message}\n`);
    return 1;
  }
  process.stdout.write(`${JSON.stringify(data.event, null, 2)}\n`);
  return 0;
};
