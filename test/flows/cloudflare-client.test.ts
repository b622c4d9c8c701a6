// Tests how the deployment calls the Cloudflare API: repeated calls, the base URL, and the choice of the account.
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { getAccount } from "../../scripts/deploy/account.ts";
import { connectToCloudflare } from "../../scripts/deploy/cloudflare.ts";

interface Reply {
  /** Null closes the connection without a response. */
  readonly status: number | null;
  readonly result?: unknown;
  readonly code?: number;
  readonly retryAfter?: string;
}

/** Starts a mock API and sets its URL in the environment. Returns the calls that it receives, such as `GET /accounts`. */
const startApi = async (reply: (call: string, earlierCalls: number) => Reply, variable = "CLOUDFLARE_API_BASE_URL") => {
  const calls: string[] = [];
  const server = createServer((request: IncomingMessage, response) => {
    const call = `${request.method} ${request.url?.replace(/\?.*/, "")}`;
    const { status, result, code, retryAfter } = reply(call, calls.length);
    calls.push(call);
    if (status === null) return request.socket.destroy();
    response.writeHead(status, { ...(retryAfter !== undefined && { "retry-after": retryAfter }) });
    return response.end(JSON.stringify({ success: status < 300, result, errors: code === undefined ? [] : [{ code, message: "Failed" }] }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
  });
  vi.stubEnv(variable, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return calls;
};

beforeEach(() => {
  vi.stubEnv("CLOUDFLARE_API_TOKEN", "token-of-the-tests");
  const otherSettings = [
    ...["CLOUDFLARE_API_BASE_URL", "CF_API_BASE_URL", "CLOUDFLARE_ACCOUNT_ID", "CF_ACCOUNT_ID"],
    ...["CLOUDFLARE_API_KEY", "CF_API_KEY", "CLOUDFLARE_COMPLIANCE_REGION", "WRANGLER_API_ENVIRONMENT"],
  ];
  for (const name of otherSettings) vi.stubEnv(name, undefined);
});
afterEach(() => {
  vi.unstubAllEnvs();
});

describe("a call of the Cloudflare API", () => {
  test("is repeated after a network error, a rate limit and an error of the API", async () => {
    const failures: readonly Reply[] = [{ status: null }, { status: 429, retryAfter: "0" }, { status: 502, retryAfter: "0" }];
    const calls = await startApi((_, earlier) => failures[earlier] ?? { status: 200, result: "found" });
    expect(await (await connectToCloudflare()).get("/zones")).toBe("found");
    expect(calls).toEqual(Array(4).fill("GET /zones"));
  });

  test.each<readonly [string, Reply, number]>([
    ["an error of the API, after four attempts", { status: 500, retryAfter: "0" }, 4],
    ["a rate limit of more than a minute", { status: 429, retryAfter: "3600" }, 1],
    ["a refusal", { status: 403, code: 10_000 }, 1],
  ])("rejects for %s", async (_, reply, attempts) => {
    const calls = await startApi(() => reply);
    await expect((await connectToCloudflare()).get("/zones")).rejects.toThrow("GET /zones failed");
    expect(calls.length).toBe(attempts);
  });

  test("is not repeated if it creates something", async () => {
    const calls = await startApi(() => ({ status: 503, retryAfter: "0" }));
    await expect((await connectToCloudflare()).post("/zones", {})).rejects.toThrow("POST /zones failed");
    expect(calls.length).toBe(1);
  });
});

describe("the base URL", () => {
  test("is read from the earlier name of its variable, as by wrangler", async () => {
    await startApi(() => ({ status: 200, result: "found" }), "CF_API_BASE_URL");
    expect(await (await connectToCloudflare()).get("/zones")).toBe("found");
  });

  test("is in the compliance region", async () => {
    vi.stubEnv("CLOUDFLARE_COMPLIANCE_REGION", "fedramp_high");
    const fetch = vi.spyOn(globalThis, "fetch").mockResolvedValue(Response.json({ success: true, result: "found" }));
    onTestFinished(() => fetch.mockRestore());
    expect(await (await connectToCloudflare()).get("/zones")).toBe("found");
    expect(fetch.mock.calls[0]?.[0]).toBe("https://api.fed.cloudflare.com/client/v4/zones");
  });

  test.each([
    ["CLOUDFLARE_COMPLIANCE_REGION", "eu"],
    ["WRANGLER_API_ENVIRONMENT", "staging"],
  ])("is refused with %s=%s", async (name, value) => {
    vi.stubEnv(name, value);
    await expect(connectToCloudflare()).rejects.toThrow(name);
  });
});

describe("the account", () => {
  const [acme, parent] = [
    { id: "a".repeat(32), name: "Acme Solar" },
    { id: "b".repeat(32), name: "Acme Group" },
  ];
  const ownAcme: Reply = { status: 200, result: [{ account: acme }] };
  const findAccount = async (memberships: Reply, accounts: readonly object[] = [parent, acme]): Promise<string> => {
    await startApi((call) => (call === "GET /accounts" ? { status: 200, result: accounts } : memberships));
    return (await getAccount()).name;
  };

  test("is the only one that the user is a member of", async () => {
    expect(await findAccount(ownAcme)).toBe("Acme Solar");
  });

  test("is the only one that the credentials give access to, whether or not memberships can be read", async () => {
    expect(await findAccount({ status: 403, code: 9_109 }, [acme])).toBe("Acme Solar");
  });

  test.each(["CLOUDFLARE_ACCOUNT_ID", "CF_ACCOUNT_ID"])("is selected with %s, also without a membership", async (name) => {
    vi.stubEnv(name, parent.id);
    expect(await findAccount(ownAcme)).toBe("Acme Group");
  });

  test.each<readonly [string, Reply]>([
    ["memberships cannot be read", { status: 403, code: 10_000 }],
    ["the user is a member of both", { status: 200, result: [{ account: acme }, { account: parent }] }],
    ["the user is a member of neither", { status: 200, result: [] }],
  ])("must be selected if %s", async (_, memberships) => {
    await expect(findAccount(memberships)).rejects.toThrow(
      `Set CLOUDFLARE_ACCOUNT_ID to the account to use: ${parent.id} (Acme Group), ${acme.id} (Acme Solar).`,
    );
  });

  test("is required", async () => {
    await expect(findAccount(ownAcme, [])).rejects.toThrow("The Cloudflare credentials give access to no account.");
  });
});
