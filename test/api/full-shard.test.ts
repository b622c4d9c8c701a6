// Tests a shard that has no room for more certificates, first while the other shard is closed, and then while it is open.
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { minuteMs } from "../../core/time.ts";
import { buildJsonPost } from "../support/withdrawal.ts";
import { buildSubmission, createServiceCall, origin, type Call, type TestResponse } from "../support/world.ts";

const setOtherShard = (state: "open" | "closed") =>
  env.DB.prepare("INSERT INTO shard_registry (shard, state) VALUES ('01', ?1) ON CONFLICT (shard) DO UPDATE SET state = ?1")
    .bind(state)
    .run();

beforeEach(() => setOtherShard("closed"));
afterEach(() => {
  vi.useRealTimers();
});

const submit = (service: Call, submissionId: string): Promise<TestResponse> =>
  service("/v1/consent", {
    method: "POST",
    headers: { origin, "content-type": "text/plain;charset=UTF-8" },
    body: JSON.stringify({ ...buildSubmission(), submission_id: submissionId }),
  });

/** Creates a service whose database is over its size limit. The service learns the size only when it issues its first certificate. */
const createFullService = async (): Promise<{ readonly service: Call; readonly first: TestResponse; readonly firstId: string }> => {
  const service = createServiceCall({ DEV_SHARD_BYTES: "4096" });
  const firstId = crypto.randomUUID();
  const first = await submit(service, firstId);
  expect(first.status).toBe(201);
  return { service, first, firstId };
};

describe("a shard that is 90% full", () => {
  test("issues no more certificates and returns 503 storage_unavailable", async () => {
    const { service } = await createFullService();
    const refused = await submit(service, crypto.randomUUID());
    expect([refused.status, refused.body.error.code]).toEqual([503, "storage_unavailable"]);
    expect(refused.headers.get("retry-after")).not.toBeNull();
  });

  test("still returns the receipt of a certificate that it has issued", async () => {
    const { service, first, firstId } = await createFullService();
    const repeated = await submit(service, firstId);
    expect([repeated.status, repeated.body.data]).toEqual([first.status, first.body.data]);
  });

  test("still records withdrawals, and verifies certificates", async () => {
    const { service, first } = await createFullService();
    const { cert_id: certId, manage_url: manageUrl } = first.body.data;
    const withdrawn = await service(`/v1/certs/${certId}/opt-out/manage`, buildJsonPost({ token: manageUrl.split("#m=")[1] }));
    expect(withdrawn.status).toBe(200);
    expect((await service(`/v1/certs/${certId}/verify`)).body.data.status).toBe("revoked");
  });

  test("is tried again after a minute", async () => {
    const { service } = await createFullService();
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + minuteMs });
    expect((await submit(service, crypto.randomUUID())).status).toBe(201);
    expect((await submit(service, crypto.randomUUID())).status).toBe(503);
  });
});

describe("a shard that is 70% full", () => {
  test("gets no more certificates as soon as another shard has room", async () => {
    const bytes = (await env.DB.prepare("SELECT 1").run()).meta.size_after;
    const service = createServiceCall({ DEV_SHARD_BYTES: String(Math.floor(bytes / 0.8)) });
    const issue = async (): Promise<string> => (await submit(service, crypto.randomUUID())).body.data.cert_id.slice(3, 5);
    expect([await issue(), await issue()]).toEqual(["00", "00"]);
    await setOtherShard("open");
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + minuteMs });
    expect([await issue(), await issue()]).toEqual(["00", "01"]);
  });
});

describe("a shard with room", () => {
  test("issues certificates", async () => {
    const service = createServiceCall({ DEV_SHARD_BYTES: "10000000000" });
    for (const submissionId of [crypto.randomUUID(), crypto.randomUUID()]) expect((await submit(service, submissionId)).status).toBe(201);
  });
});
