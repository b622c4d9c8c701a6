// Signs in as the business owner and erases the personal data in a certificate.
import { buildJsonRequest, signIn } from "./people.ts";
import { call, world, type TestResponse, type Call } from "./world.ts";

export const requestErasure = async (
  certId: string,
  body: unknown = { confirm: "ERASE", reason: "person_asked" },
  { as = world.ownerEmail, headers = {}, send = call }: { as?: string; headers?: Record<string, string>; send?: Call } = {},
): Promise<TestResponse> => send(`/v1/certs/${certId}/erase-subject`, buildJsonRequest(body, { ...(await signIn(as)), ...headers }));

export const eraseCertificate = async (certId: string): Promise<string> => {
  const response = await requestErasure(certId);
  if (response.status !== 200) throw new Error(`not erased: ${response.text}`);
  return response.body.data.subject_erased_at;
};
