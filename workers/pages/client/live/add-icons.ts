// Adds the icons for parts of the page that the script fetches after the page has loaded.

/** Copies missing icon shapes from the newest version of the page. A page contains only the shapes that it used when it was rendered. */
export const addIcons = (newest: Document): void => {
  const sprite = document.querySelector("svg.sprite");
  for (const symbol of newest.querySelectorAll("svg.sprite > symbol"))
    if (document.getElementById(symbol.id) === null) sprite?.append(symbol);
};
