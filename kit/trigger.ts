// `svc trigger`: has something happen in the sandbox, so that its event is in the feed and on its way to test endpoints.
import { getApiUrl, UsageError, parseArguments, requireTestKey } from "./arguments.ts";
import { createSvc, type SandboxTrigger } from "./client.ts";

export const triggerHelp = `Usage: svc trigger <event> [options]

  Has something happen in test mode that makes this event: share.created, share.renewed, share.revoked, business.ceased,
  share.expiring, share.expired, consumer.updated.email, .phone, .address or .name.

  --share <id>     in this test share; left out, a fresh one is made
  --field <k=v>    for consumer.updated.*: what a field becomes, for example --field email=new@example.com
  --api <address>  the service; else SVC_API, else http://localhost:8787

The API key is read from SVC_API_KEY and must be a test key. The event is printed as it is sent.
Exit code: 0 it happened; 1 the service refused, or did not answer; 2 wrong usage.
`;

const parseFieldOption = (text: string | undefined): Pick<SandboxTrigger, "fields"> => {
  if (text === undefined) return {};
  const [, key, value] = /^([a-z_0-9]+)=(.*)$/.exec(text) ?? [];
  if (key === undefined || value === undefined) throw new UsageError("--field takes key=value.");
  return { fields: { [key]: value } };
};

/** Runs the command and answers with its exit code. */
export const runTrigger = async (words: readonly string[]): Promise<number> => {
  const given = parseArguments(words, ["--share", "--field", "--api"], []);
  const [type, ...more] = given.positionals;
  if (type === undefined || more.length > 0) throw new UsageError("svc trigger takes one event.");
  const [api, key] = [getApiUrl(given), requireTestKey()];
  const share = given.values.get("--share");
  const svc = createSvc({ baseUrl: api, apiKey: key });
  const body = {
    type,
    ...(share !== undefined && { share_id: share }),
    ...parseFieldOption(given.values.get("--field")),
  } as SandboxTrigger;
  const { data, error } = await svc.triggerSandboxEvent({ body });
  if (error !== undefined) {
    process.stderr.write(`Nothing was triggered: ${error.code}: ${error.message}\n`);
    return 1;
  }
  process.stdout.write(`${JSON.stringify(data.event, null, 2)}\n`);
  return 0;
};
