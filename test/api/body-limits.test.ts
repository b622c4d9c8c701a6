// Tests that no route keeps more of a body in memory than the route's limit, even if the request does not announce the body's length.
// Covers every route that accepts a body (from the OpenAPI document) and the forms of the withdrawal page.
import { beforeAll, describe, expect, test, vi } from "vitest";
import { signIn } from "../support/people.ts";
import { call, getWithKey, issueCertificate, world } from "../support/world.ts";

const chunk = new Uint8Array(64 * 1_024).fill(0x61);
const chunks = 48; // 3 MiB, which exceeds every limit

/** These methods read the whole body into memory, so no route may call one on a body of unknown size. */
const readers = ["arrayBuffer", "bytes", "text", "json", "formData", "blob"] as const;

let routes: readonly { readonly method: string; readonly path: string }[] = [];
let certId = "";
let cookie = "";
let consumerCookie = "";

beforeAll(async () => {
  const { paths } = (await getWithKey("/v1/openapi.json")).body as { paths: Record<string, Record<string, unknown>> };
  const withBody = ["post", "put", "patch"];
  routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).flatMap((method) => (withBody.includes(method) ? [{ method: method.toUpperCase(), path }] : [])),
  );
  ({ cert_id: certId } = await issueCertificate());
  ({ cookie } = await signIn(world.ownerEmail));
  consumerCookie = (await signIn(world.consumerEmail, "consumer")).cookie;
});

const createBodyStream = (): ReadableStream<Uint8Array> => {
  let sent = 0;
  return new ReadableStream({
    pull: (controller) => {
      sent += 1;
      if (sent > chunks) controller.close();
      else controller.enqueue(chunk);
    },
  });
};

const bodies = { announced: () => new Uint8Array(chunks * chunk.length).fill(0x61), chunked: createBodyStream };

const ids: Readonly<Record<string, () => string>> = {
  cert_id: () => certId,
  webhook_id: () => "whk_00000000000000000000000000",
  delivery_id: () => "dlv_00000000000000000000000000",
  share_id: () => "shr_00000000000000000000000000",
};
const buildAddress = (path: string): string => path.replaceAll(/\{([a-z_]+)\}/g, (_, name: string) => ids[name]?.() ?? name);

const sendTo = async (method: string, path: string, type: string, body: BodyInit, headers: Record<string, string>) => {
  const spies = readers.map((name) => vi.spyOn(Request.prototype, name));
  try {
    const response = await call(buildAddress(path), {
      method,
      headers: { "content-type": type, origin: "http://svc.test", ...headers },
      body,
    });
    return { response, heldWhole: spies.some((spy) => spy.mock.calls.length > 0) };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
};

describe.each(Object.keys(bodies) as (keyof typeof bodies)[])("a request body above the limit, %s", (how) => {
  test("B1: gets 413 payload_too_large on every route of the API that takes a body, without being held in memory", async () => {
    expect(routes.length).toBeGreaterThan(20);
    for (const { method, path } of routes) {
      const isPortal =
        path.startsWith("/v1/webhooks") ||
        path.startsWith("/v1/auth") ||
        path.startsWith("/v1/business") ||
        path.endsWith("/erase-subject");
      const isConsumerRoute = path.startsWith("/v1/me") || path === "/v1/share/consent" || path.endsWith("/revoke");
      const { live, sandbox } = world.acme.keys;
      const key = { authorization: `Bearer ${path.startsWith("/v1/sandbox/") ? sandbox : live}` };
      const credential = isPortal ? { cookie } : isConsumerRoute ? { cookie: consumerCookie } : key;
      const { response, heldWhole } = await sendTo(method, path, "application/json", bodies[how](), credential);
      expect([method, path, response.status, response.body.error?.code, heldWhole]).toEqual([
        method,
        path,
        413,
        "payload_too_large",
        false,
      ]);
    }
  });

  test.each(["email", "confirm", "link"])("B1: gets the refusal page from the %s form, without being held in memory", async (form) => {
    const paths: Record<string, string> = { email: "", confirm: "/confirm", link: "/link" };
    const { response, heldWhole } = await sendTo(
      "POST",
      `/c/{cert_id}/withdraw${paths[form]}`,
      "application/x-www-form-urlencoded",
      bodies[how](),
      {},
    );
    expect([response.status, response.headers.get("content-type"), heldWhole]).toEqual([413, "text/html; charset=UTF-8", false]);
  });
});
