// The documentation: copy buttons, and a navigation drawer that closes when a link in it leads to a part of the same page. Without scripts,
// a press beside the drawer closes it.
import "./copy.ts";

const navigation = document.querySelector<HTMLElement>("#docs-nav");

navigation?.addEventListener("click", ({ target }) => {
  if (target instanceof Element && target.closest("a") !== null && navigation.matches(":popover-open")) navigation.hidePopover();
});
