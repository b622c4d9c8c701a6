// The script for the documentation pages. It shows the copy buttons, and highlights the visible section in "On this page". It also closes
// the navigation drawer after a click on one of its links.
import "./copy.ts";

const navigation = document.querySelector<HTMLElement>("#docs-nav");

navigation?.addEventListener("click", ({ target }) => {
  if (target instanceof Element && target.closest("a") !== null && navigation.matches(":popover-open")) navigation.hidePopover();
});

const links = [...document.querySelectorAll<HTMLAnchorElement>(".toc a")];
const parts = links.flatMap((link) => document.getElementById(decodeURIComponent(link.hash.slice(1))) ?? []);

/** The reading line, in pixels from the top of the window. The current section is the last one whose heading is above this line. */
const readingLine = 160;

/** Marks the link to the current section. At the top of the page, this is the first section. At the end of the page, it is the last one. */
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
