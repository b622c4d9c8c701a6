// Adds the icons of page parts that were fetched after the page was loaded.

/** Adds the shapes of icons that the page did not use before, because a page contains only the shapes that it was rendered with. */
export const addIcons = (newest: Document): void => {
  const sprite = document.querySelector("svg.sprite");
  for (const symbol of newest.querySelectorAll("svg.sprite > symbol"))
    if (document.getElementById(symbol.id) === null) sprite?.append(symbol);
};
