// Passkeys: offered only where the browser has them. What the device is asked stands in the page, what it answers goes back in a form; the
// page makes no request of its own.
const canUse = "PublicKeyCredential" in window && "parseRequestOptionsFromJSON" in PublicKeyCredential;

if (canUse) for (const offer of document.querySelectorAll<HTMLElement>("[data-offers-passkey]")) offer.hidden = false;

const asking = document.querySelector<HTMLElement>("[data-passkey]");
const field = asking?.querySelector<HTMLInputElement>('input[name="credential"]');
const failed = asking?.querySelector<HTMLElement>("[data-failed]");

const answerOf = async (how: string | undefined, options: string): Promise<Credential | null> => {
  const json: unknown = JSON.parse(options);
  if (how === "create") {
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(json as PublicKeyCredentialCreationOptionsJSON);
    return navigator.credentials.create({ publicKey });
  }
  return navigator.credentials.get({
    publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(json as PublicKeyCredentialRequestOptionsJSON),
  });
};

let isAsking = false;
const ask = async (): Promise<void> => {
  if (asking == null || field == null || failed == null || isAsking) return;
  isAsking = true;
  failed.hidden = true;
  try {
    const credential = await answerOf(asking.dataset.passkey, asking.dataset.options ?? "");
    field.value = JSON.stringify((credential as PublicKeyCredential).toJSON());
    field.form?.submit();
  } catch {
    failed.hidden = false; // cancelled, or the device has none: the button asks again
  }
  isAsking = false;
};

asking?.querySelector("button")?.addEventListener("click", () => void ask());
void ask();

export {}; // a file of its own, with names of its own
