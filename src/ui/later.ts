/** Features that are loaded after the first view: focus, menu keys and scroll restoration. */
import { beginAtHeading, keepFocus } from "./browser/focus.ts"
import { restoreScroll } from "./browser/scroll-positions.ts"
import { keepMenuKeys } from "./parts/menu-keys.ts"

keepFocus()
beginAtHeading()
keepMenuKeys()
restoreScroll()
