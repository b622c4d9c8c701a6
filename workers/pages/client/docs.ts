// The script for the documentation pages. It shows the copy buttons and highlights the visible part in "On this page". It also closes the
// navigation drawer when a link in it leads to a part of the same page. Without scripts, a click outside the drawer closes it.
import "./copy.ts";

const navigation = document.querySelector<HTMLElement>("#docs-nav");

navigation?.addEventListener("click", ({ target }) => {
  if (target instanceof Element && target.closest("a") !== null && navigation.matches(":popover-open")) navigation.hidePopover();
});

const links = [...document.querySelectorAll<HTMLAnchorElement>(".toc a")];
const parts = links.flatMap((link) => document.getElementById(decodeURIComponent(link.hash.slice(1))) ?? []);

/** A heading that is less than this many pixels below the top of the window counts as being read. */
const readingLine = 160;

/**
 * Marks the last part that begins above the reading line. At the top of the page, marks the first part. At the end of the page, marks the
 * last part.
 */
const markPartInView = (): void => {
  const isAtEnd = window.scrollY > 0 && window.innerHeight + window.scrollY >= document.documentElement.scrollHeight - 2;
  const current = isAtEnd ? parts.at(-1) : (parts.findLast((part) => part.getBoundingClientRect().top <= readingLine) ?? parts[0]);
  for (const link of links) {
    if (current !== undefined && link.hash === `#${current.id}`) link.setAttribute("aria-current", "location");
    else link.removeAttribute("aria-current");
  }
};

if (parts.length > 0) {
  markPartInView();
  addEventListener("scroll", markPartInView, { passive: true });
  addEventListener("resize", markPartInView);
}
