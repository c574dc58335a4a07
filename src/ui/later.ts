/** What the page can do without until its first view is there. */
import { beginAtHeading, keepFocus } from "./focus.ts"
import { keepMenuKeys } from "./parts/menu-keys.ts"
import { keepPlaces } from "./places.ts"

keepFocus()
beginAtHeading()
keepMenuKeys()
keepPlaces()
// Where the server goes away, filters still say what they are, and empty cards why.
for (const load of [() => import("./screens/dashboard/filter-pills.tsx"), () => import("./screens/dashboard/empty-card.tsx")])
  load().catch(() => {})
