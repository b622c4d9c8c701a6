// Copy buttons. They are hidden in the HTML and shown only if the browser can copy.
for (const button of document.querySelectorAll<HTMLButtonElement>("button[data-copy]")) {
  const source = document.getElementById(button.dataset.copy ?? "");
  if (source === null || navigator.clipboard === undefined) continue;
  const label = button.querySelector("span") ?? button;
  const { textContent } = label;
  button.hidden = false;
  button.addEventListener("click", () => {
    void navigator.clipboard.writeText(source.textContent ?? "").then(() => {
      label.textContent = button.dataset.copied ?? "";
      setTimeout(() => {
        label.textContent = textContent;
      }, 2_000);
    });
  });
}
