// Stress test: many agents call every tool concurrently while some of their tokens are revoked. After the response to a revocation, the
// token gives no access. Every successful call is in the person's audit trail exactly once, no agent sees another person's data, and only
// revocations change the rows of shares. STORM_AGENTS sets the number of people with agents (`npm run stress -- agents` sets 60).
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { callTool, createToken, createTokenWith } from "../support/agents.ts";
import { waitUntilSettled } from "../support/background-work.ts";
import { grantShare, signInPerson, type SignedPerson } from "../support/sharing.ts";
import { call, issueCertificate, createServiceCall, type TestResponse } from "../support/world.ts";

const persons = Number(env.STORM_AGENTS ?? 6);
const callsEach = 24;
const service = createServiceCall({ LIMIT_AGENT_TOKEN: "100000/60", LIMIT_FIELD_CHANGES: "100000/60" });

interface Someone {
  readonly signed: SignedPerson;
  readonly tokens: readonly { readonly id: string; readonly token: string }[];
  readonly shares: readonly string[];
  /** IDs of tokens whose revocation has been confirmed. */
  readonly ended: Set<string>;
  /** Number of successful calls per token. */
  readonly answered: Map<string, number>;
  readonly seenShareIds: Set<string>;
  /** Number of calls made with a token that was already revoked. */
  late: number;
}

const createSomeone = async (): Promise<Someone> => {
  const signed = await signInPerson();
  const tokens = [];
  for (let at = 0; at < 3; at += 1) tokens.push((await createTokenWith("consumer", signed.headers)).body.data);
  const shares = [(await grantShare(signed)).share.id, (await grantShare(signed)).share.id];
  return { signed, tokens, shares, ended: new Set(), answered: new Map(), seenShareIds: new Set(), late: 0 };
};

/** The calls that an agent makes, one per turn. After the last one, the agent starts over. */
const turns: readonly ((someone: Someone, others: Someone, turn: number) => readonly [name: string, args: object])[] = [
  () => ["svc_list_shares", {}],
  ({ shares }) => ["svc_get_share", { share_id: shares[0] }],
  (_, others) => ["svc_get_share", { share_id: others.shares[0] }],
  (_, others) => ["svc_revoke_share", { share_id: others.shares[0] }],
  (_, __, turn) => ["svc_update_field", { field: "city", value: `City ${turn}` }],
  ({ shares }) => ["svc_revoke_share", { share_id: shares[1] }],
  () => ["svc_get_audit", { limit: 1 }],
  () => ["svc_create_share", { consent: true }],
];

const callAsAgent = async (someone: Someone, others: Someone, turn: number): Promise<void> => {
  const agent = someone.tokens[turn % someone.tokens.length] as Someone["tokens"][number];
  const [name, args] = (turns[turn % turns.length] as (typeof turns)[number])(someone, others, turn);
  const hadEnded = someone.ended.has(agent.id); // checked before the call, because the token can be revoked during the call
  const response: TestResponse = await callTool(agent.token, name, args, service);
  if (hadEnded) someone.late += 1;
  if (hadEnded) expect(response.status).toBe(401);
  else expect([200, 401]).toContain(response.status);
  if (response.status !== 200) return;
  someone.answered.set(agent.id, (someone.answered.get(agent.id) ?? 0) + 1);
  for (const [id] of response.text.matchAll(/shr_[0-9a-z]{26}/g)) someone.seenShareIds.add(id);
};

const end = async (someone: Someone, at: number): Promise<void> => {
  const { id } = someone.tokens[at] as Someone["tokens"][number];
  const response = await call(`/v1/me/agent-tokens/${id}`, { method: "DELETE", headers: someone.signed.headers });
  expect(response.status).toBe(200);
  someone.ended.add(id);
};

const countEntriesBy = async ({ signed }: Someone, id: string): Promise<number> => {
  let found = 0;
  for (let before = ""; ; ) {
    const { entries, next_before_seq: next } = (await signed.get(`/v1/me/audit?limit=100${before}`)).body.data;
    found += (entries as { payload: { actor?: string } }[]).filter(({ payload }) => payload.actor === `agent:${id}`).length;
    if (next === null || next === undefined) return found;
    before = `&before_seq=${next}`;
  }
};

const shareRows = async (): Promise<unknown[]> =>
  (await env.DB.prepare("SELECT id, business_id, consumer_id, scope, origin, purpose, duration_days FROM shares ORDER BY id").all())
    .results;

const patienceMs = 30_000 + persons * 10_000; // 90 s for six people on a busy machine

test(
  "many concurrent agents see only their own data, lose access with their token and grant nothing, and every call is recorded once",
  async () => {
    await issueCertificate();
    const people: Someone[] = [];
    for (let at = 0; at < persons; at += 1) people.push(await createSomeone());
    const business = await createToken("business");
    await waitUntilSettled();
    const before = {
      shares: await shareRows(),
      certificates: (await env.DB.prepare("SELECT * FROM certificates ORDER BY id").all()).results,
    };

    await Promise.all(
      people.map(async (someone, at) => {
        const others = people[(at + 1) % people.length] as Someone;
        const under = Array.from({ length: callsEach / 2 }, (_, turn) => callAsAgent(someone, others, turn));
        await Promise.all([...under, end(someone, at % 3), callTool(business.token, "svc_list_shares", {}, service)]);
        // Makes calls with the revoked token and with valid ones.
        await Promise.all(Array.from({ length: callsEach / 2 }, (_, turn) => callAsAgent(someone, others, turn + callsEach / 2)));
      }),
    );
    await waitUntilSettled();

    for (const someone of people) {
      expect(someone.late).toBe(callsEach / 2 / 3);
      expect([...someone.seenShareIds].filter((id) => !someone.shares.includes(id))).toEqual([]);
      for (const { id } of someone.tokens) expect(await countEntriesBy(someone, id)).toBe(someone.answered.get(id) ?? 0);
      const { shares } = (await someone.signed.get("/v1/me/shares")).body.data as { shares: { id: string; status: string }[] };
      expect(shares.find(({ id }) => id === someone.shares[0])?.status).toBe("active"); // still active although another person tried to revoke it
      expect(shares.find(({ id }) => id === someone.shares[1])?.status).toBe("revoked");
    }
    expect({
      shares: await shareRows(),
      certificates: (await env.DB.prepare("SELECT * FROM certificates ORDER BY id").all()).results,
    }).toEqual(before);
  },
  patienceMs,
);
