// The documentation: copy buttons, a navigation drawer that closes when a link in it leads to a part of the same page, and a highlight in
// "On this page" for the part in view. Without scripts, a click outside the drawer closes it.
import "./copy.ts";

const navigation = document.querySelector<HTMLElement>("#docs-nav");

navigation?.addEventListener("click", ({ target }) => {
  if (target instanceof Element && target.closest("a") !== null && navigation.matches(":popover-open")) navigation.hidePopover();
});

const links = [...document.querySelectorAll<HTMLAnchorElement>(".toc a")];
const parts = links.flatMap((link) => document.getElementById(decodeURIComponent(link.hash.slice(1))) ?? []);

/** How far below the top of the window a heading still counts as the one being read, in pixels. */
const readingLine = 160;

/** Marks the last part that begins above the reading line: at first the first one, and at the end of the page the last one. */
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
