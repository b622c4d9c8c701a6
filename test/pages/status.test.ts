// Tests the public status page, and the operator's routes that record incidents.
import { env } from "cloudflare:workers";
import { beforeEach, describe, expect, test } from "vitest";
import { sha256Hex } from "../../core/hash.ts";
import { publicMessages } from "../../workers/pages/i18n/public.ts";
import { openDatabase } from "../../storage/database.ts";
import { listShownIncidents } from "../../storage/incidents.ts";
import { buildJsonRequest } from "../support/people.ts";
import { createServiceCall } from "../support/world.ts";

const token = "token-of-the-operator-of-the-status-page-43";
const service = createServiceCall({ ADMIN_TOKEN_SHA256: sha256Hex(token) });
const fail = (): Promise<never> => Promise.reject(new Error("D1_ERROR: network connection lost"));
const failingStatement = { bind: () => failingStatement, all: fail, raw: fail, first: fail, run: fail };
const withoutDatabase = createServiceCall({ DB: { prepare: () => failingStatement, batch: fail } });
const bearer = { authorization: `Bearer ${token}` };
const html = { headers: { accept: "text/html", "accept-language": "en" } };
const { status: messages } = publicMessages.en;

const post = (path: string, body: object, headers: Record<string, string> = bearer) =>
  service(`/v1/admin/incidents${path}`, buildJsonRequest(body, headers));
const open = async (change: object = {}): Promise<string> =>
  (
    await post("", {
      title: "Deliveries are late",
      impact: "degraded",
      components: ["webhooks"],
      text: "We are looking for the cause.",
      ...change,
    })
  ).body.data.id as string;

beforeEach(async () => {
  await env.DB.prepare("DELETE FROM incidents").run();
  await env.KV.delete("status/incidents");
});

describe("GET /status", () => {
  test("shows every component as working while no incident is open", async () => {
    const { status, text } = await service("/status", html);
    expect(status).toBe(200);
    expect(text).toContain(messages.allGood);
    for (const name of Object.values(messages.components)) expect(text).toContain(name);
    expect(text.split(messages.states.operational).length - 1).toBe(6);
  });

  test("shows an incident with its updates, and the greatest impact of a component, until it ends", async () => {
    const id = await open();
    await open({ title: "No deliveries", impact: "outage", components: ["webhooks", "email"] });
    await post(`/${id}`, { text: "The cause is fixed." });
    const during = (await service("/status", html)).text;
    expect(during).toContain(messages.hasOpen);
    expect(during).toContain("The cause is fixed.");
    expect(during.split(messages.states.operational).length - 1).toBe(4);
    expect(during.split(`</svg>${messages.states.outage}`).length - 1).toBe(3); // counts two components and the incident
    const { body } = await post(`/${id}`, { text: "Everything was delivered.", ended: true });
    expect(body.data.ended_at).not.toBeNull();
    const after = (await service("/status", html)).text;
    expect(after).toContain(messages.ended);
    expect(after).toContain("Everything was delivered.");
  });

  test.each(["es", "fr-CA"] as const)("is translated into %s, except for the operator's texts", async (language) => {
    await open();
    const { text } = await service(`/status?lang=${language}`, html);
    const { status: translated } = publicMessages[language];
    for (const sentence of [translated.title, translated.hasOpen, translated.states.degraded, translated.noPast])
      expect(text).toContain(sentence);
    for (const sentence of [messages.title, messages.hasOpen, messages.affects, messages.noPast]) expect(text).not.toContain(sentence);
    expect(text).toContain("We are looking for the cause.");
  });

  test("shows the operator's text as text", async () => {
    await open({ title: "<b>x</b>", text: "<script>alert(1)</script>" });
    const { text } = await service("/status", html);
    expect(text).not.toContain("<script>alert");
    expect(text).toContain("&lt;script&gt;alert");
  });

  test("omits incidents that ended more than 90 days ago", async () => {
    await open();
    await post(`/${await open({ title: "Old" })}`, { text: "Done.", ended: true });
    const db = openDatabase(env.DB);
    const laterTime = Date.now() + 91 * 86_400_000;
    expect((await listShownIncidents(db, Date.now())).length).toBe(2);
    expect((await listShownIncidents(db, laterTime)).map(({ title }) => title)).toEqual(["Deliveries are late"]);
  });

  test("shows the last copy, and says so, while the database does not respond", async () => {
    await open();
    const { status, text } = await withoutDatabase("/status", html);
    expect(status).toBe(200);
    expect(text).toContain(messages.noDatabase);
    expect(text).toContain("Deliveries are late");
  });
});

describe("the operator's routes for incidents", () => {
  test("keep both of two updates that are added at the same time", async () => {
    const id = await open();
    await Promise.all([post(`/${id}`, { text: "We found the cause." }), post(`/${id}`, { text: "Deliveries are catching up." })]);
    const { updates } = (await service("/v1/admin/incidents", { headers: bearer })).body.data.incidents[0];
    expect(updates.map(({ text }: { readonly text: string }) => text).sort()).toEqual([
      "Deliveries are catching up.",
      "We are looking for the cause.",
      "We found the cause.",
    ]);
  });

  test("refuse other callers, unknown incidents and invalid texts", async () => {
    const id = await open();
    for (const headers of [{}, { authorization: "Bearer not-the-token-of-the-operator-of-this-service" }]) {
      expect((await post("", { title: "x", impact: "outage", components: ["email"], text: "x" }, headers)).status).toBe(401);
      expect((await post(`/${id}`, { text: "x" }, headers)).status).toBe(401);
    }
    expect((await post("/0000000000000000", { text: "x" })).status).toBe(404);
    for (const change of [
      { impact: "terrible" },
      { components: [] },
      { components: ["coffee"] },
      { title: " " },
      { text: "x".repeat(2_001) },
    ])
      expect((await post("", { title: "x", impact: "outage", components: ["email"], text: "x", ...change })).status).toBe(400);
    expect((await service("/v1/admin/incidents", { headers: bearer })).body.data.incidents).toHaveLength(1);
  });
});
