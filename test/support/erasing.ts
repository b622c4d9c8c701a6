// Erasing a person as an owner of the business does it.
import { json, signIn } from "./people.ts";
import { call, world, type Answer, type Call } from "./world.ts";

export const erase = async (
  certId: string,
  body: unknown = { confirm: "ERASE", reason: "person_asked" },
  { as = world.ownerEmail, headers = {}, send = call }: { as?: string; headers?: Record<string, string>; send?: Call } = {},
): Promise<Answer> => send(`/v1/certs/${certId}/erase-subject`, json(body, { ...(await signIn(as)), ...headers }));

export const erased = async (certId: string): Promise<string> => {
  const answer = await erase(certId);
  if (answer.status !== 200) throw new Error(`not erased: ${answer.text}`);
  return answer.body.data.subject_erased_at;
};
