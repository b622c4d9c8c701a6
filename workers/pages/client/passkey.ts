// Passkeys: offered only where the browser has them. What the device is asked stands in the page, what it answers goes back in a form; the
// page makes no request of its own.
const isSupported = "PublicKeyCredential" in window && "parseRequestOptionsFromJSON" in PublicKeyCredential;

if (isSupported) for (const offer of document.querySelectorAll<HTMLElement>("[data-offers-passkey]")) offer.hidden = false;

const prompt = document.querySelector<HTMLElement>("[data-passkey]");
const field = prompt?.querySelector<HTMLInputElement>('input[name="credential"]');
const failureMessage = prompt?.querySelector<HTMLElement>("[data-failed]");

const requestCredential = async (how: string | undefined, options: string): Promise<Credential | null> => {
  const json: unknown = JSON.parse(options);
  if (how === "create") {
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(json as PublicKeyCredentialCreationOptionsJSON);
    return navigator.credentials.create({ publicKey });
  }
  return navigator.credentials.get({
    publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(json as PublicKeyCredentialRequestOptionsJSON),
  });
};

let isPending = false;
const submitCredential = async (): Promise<void> => {
  if (prompt == null || field == null || failureMessage == null || isPending) return;
  isPending = true;
  failureMessage.hidden = true;
  try {
    const credential = await requestCredential(prompt.dataset.passkey, prompt.dataset.options ?? "");
    field.value = JSON.stringify((credential as PublicKeyCredential).toJSON());
    field.form?.submit();
  } catch {
    failureMessage.hidden = false; // cancelled, or the device has none: the button asks again
  }
  isPending = false;
};

prompt?.querySelector("button")?.addEventListener("click", () => void submitCredential());
void submitCredential();

export {}; // a file of its own, with names of its own
