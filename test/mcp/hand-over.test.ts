// Tests the hand_over argument of svc_get_share. With it, an agent can open the person's own page for a share, where the person makes all
// decisions.
import { beforeAll, describe, expect, test } from "vitest";
import { callTool, callModernMethod, createToken, createTokenWith, parseResult } from "../support/agents.ts";
import { waitUntilSettled } from "../support/background-work.ts";
import { grantShare, signInPerson, type SignedPerson } from "../support/sharing.ts";
import { call, readDatabaseContents } from "../support/world.ts";

let pat: SignedPerson;
let token = "";
let shareId = "";
beforeAll(async () => {
  pat = await signInPerson();
  token = (await createTokenWith("consumer", pat.headers)).body.data.token;
  shareId = (await grantShare(pat)).share.id;
  await waitUntilSettled();
});

const opens = { elicitation: { url: {} } };
const requestShare = async (args: object, capabilities: object, more: object = {}) =>
  (await callModernMethod(token, "tools/call", { name: "svc_get_share", arguments: { share_id: shareId, ...args }, ...more }, capabilities))
    .body.result;
const pages = { review: () => `http://svc.test/app/shares/${shareId}`, renew: () => `http://svc.test/app/shares/${shareId}/renew` };
const answers = [{ sheet: { action: "accept" } }, { sheet: { action: "decline" } }, { sheet: { action: "cancel" } }, {}];

describe.each(["review", "renew"] as const)("svc_get_share with hand_over %s", (hand_over) => {
  test("asks a client with URL elicitation to open the share page, whose URL contains only the share ID", async () => {
    expect(await requestShare({ hand_over }, opens)).toEqual({
      resultType: "input_required",
      inputRequests: {
        sheet: { method: "elicitation/create", params: { mode: "url", message: "Open your share in svc", url: pages[hand_over]() } },
      },
      _meta: { "io.modelcontextprotocol/serverInfo": { name: "svc-mcp", version: "1.0.0" } },
    });
  });

  test("returns the current share on a retry, regardless of the person's response", async () => {
    const plain = await requestShare({}, opens);
    for (const inputResponses of answers) expect(await requestShare({ hand_over }, opens, { inputResponses })).toEqual(plain);
    expect([plain.resultType, plain.structuredContent.id]).toEqual(["complete", shareId]);
  });

  test("returns the share with open_at to any other client", async () => {
    const plain = await requestShare({}, {});
    for (const capabilities of [
      {},
      { elicitation: {} },
      { elicitation: { form: {} } },
      { elicitation: { url: true } },
      { elicitation: [] },
    ]) {
      const result = await requestShare({ hand_over }, capabilities);
      expect(result.structuredContent).toEqual({ ...plain.structuredContent, open_at: pages[hand_over]() });
      expect(JSON.parse(result.content[0].text)).toEqual(result.structuredContent);
    }
  });

  test("returns no page URL for another person's share", async () => {
    const eve = await signInPerson();
    const other = (await createTokenWith("consumer", eve.headers)).body.data.token;
    const args = { name: "svc_get_share", arguments: { share_id: shareId, hand_over } };
    const { result } = (await callModernMethod(other, "tools/call", args, opens)).body;
    expect([result.isError, result.content[0].text]).toEqual([
      true,
      "Share not found for this token; call svc_list_shares to get the IDs.",
    ]);
    expect(JSON.stringify(result)).not.toContain("/app/shares");
  });

  test("links to a page that only the person's own session can open", async () => {
    const path = new URL(pages[hand_over]()).pathname;
    expect((await call(path, { headers: pat.headers })).status).toBe(200);
    expect((await call(path, { headers: (await signInPerson()).headers })).status).toBe(404);
    const signedOut = await call(path, { redirect: "manual" });
    expect(signedOut.text).not.toContain(pat.email);
    expect((await call(path, { headers: { authorization: `Bearer ${token}` }, redirect: "manual" })).text).toBe(signedOut.text);
  });

  test("writes nothing but the audit entry, and opening the page writes nothing", async () => {
    await waitUntilSettled();
    const readKeptTables = async () => {
      const { audit_entries: _, agent_tokens: __, ...tables } = await readDatabaseContents();
      return tables;
    };
    const before = await readKeptTables();
    await requestShare({ hand_over }, opens);
    await requestShare({ hand_over }, {});
    await call(new URL(pages[hand_over]()).pathname, { headers: pat.headers });
    expect(await readKeptTables()).toEqual(before);
  });
});

describe("hand_over", () => {
  test("returns -32602 when inputResponses is not an object", async () => {
    for (const inputResponses of [7, "accept", []]) {
      const params = { name: "svc_get_share", arguments: { share_id: shareId, hand_over: "renew" }, inputResponses };
      const { status, body } = await callModernMethod(token, "tools/call", params, opens);
      expect([status, body.error?.code]).toEqual([200, -32602]);
    }
  });

  test("must be review or renew", async () => {
    const result = await requestShare({ hand_over: "consent" }, opens);
    expect([result.isError, result.content[0].text]).toEqual([true, "Argument hand_over must be one of: review, renew."]);
  });

  test("is available only to consumer tokens in revision 2026-07-28", async () => {
    const findShareTool = async (agentToken: string) =>
      (await callModernMethod(agentToken, "tools/list")).body.result.tools.find(({ name }: { name: string }) => name === "svc_get_share");
    const ownTool = await findShareTool(token);
    expect(Object.keys(ownTool.inputSchema.properties)).toEqual(["share_id", "hand_over"]);
    expect(ownTool.outputSchema.properties.open_at).toMatchObject({ type: "string" });
    const business = await createToken("business");
    expect(Object.keys((await findShareTool(business.token)).inputSchema.properties)).toEqual(["share_id"]);
    const args = { share_id: shareId, hand_over: "renew" };
    const refused = { isError: true, text: "This tool accepts only these arguments: share_id." };
    expect(parseResult(await callTool(token, "svc_get_share", args))).toEqual(refused);
    const ofBusiness = await callModernMethod(business.token, "tools/call", { name: "svc_get_share", arguments: args }, opens);
    expect(parseResult(ofBusiness)).toEqual(refused);
  });

  test("is recorded in the audit history by its name, like every argument", async () => {
    await requestShare({ hand_over: "renew" }, opens);
    const { entries } = JSON.parse(parseResult(await callTool(token, "svc_get_audit", { limit: 1 })).text);
    expect(entries[0].payload).toMatchObject({ tool: "svc_get_share", outcome: "done", arguments: ["share_id", "hand_over"] });
  });

  test("has a list page in the app for people without a share", async () => {
    const response = await call("/app/shares", { headers: pat.headers, redirect: "manual" });
    expect([response.status, response.headers.get("location")]).toEqual([303, "/app"]);
  });
});
