// Copy buttons. They are hidden in the HTML and shown only if the browser can copy.
for (const button of document.querySelectorAll<HTMLButtonElement>("button[data-copy]")) {
  const source = document.getElementById(button.dataset.copy ?? "");
  if (source === null || navigator.clipboard === undefined) continue;
  const label = button.textContent;
  button.hidden = false;
  button.addEventListener("click", () => {
    void navigator.clipboard.writeText(source.textContent ?? "").then(() => {
      button.textContent = button.dataset.copied ?? "";
      setTimeout(() => {
        button.textContent = label;
      }, 2_000);
    });
  });
}
