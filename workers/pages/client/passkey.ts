// Offers passkeys if the browser supports them. The page contains the options, and a form sends the credential, so the script makes no
// requests.
const isSupported = "PublicKeyCredential" in window && "parseRequestOptionsFromJSON" in PublicKeyCredential;

if (isSupported) for (const offer of document.querySelectorAll<HTMLElement>("[data-offers-passkey]")) offer.hidden = false;

const prompt = document.querySelector<HTMLElement>("[data-passkey]");
const field = prompt?.querySelector<HTMLInputElement>('input[name="credential"]');
const failureMessage = prompt?.querySelector<HTMLElement>("[data-failed]");

const requestCredential = async (ceremony: string | undefined, options: string): Promise<Credential | null> => {
  const json: unknown = JSON.parse(options);
  if (ceremony === "create") {
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
    failureMessage.hidden = false; // the person canceled, or the device has no passkey; clicking the button tries again
  }
  isPending = false;
};

prompt?.querySelector("button")?.addEventListener("click", () => void submitCredential());
void submitCredential();

export {}; // turns this file into a module, so that its names do not clash with those of other scripts
