import { Route, Switch } from "wouter"
import { lazyScreen } from "./lazy-screen.ts"
import { sections } from "./plugin-pages.ts"
import { sectionScreen } from "./shell/section-frame.tsx"
import { NotFound } from "./shell/system-pages.tsx"

const ofPeople = {
  "/account/:section?": lazyScreen(() => import("./screens/account/account.tsx")),
  "/org/:organization?/:section?": lazyScreen(() => import("./screens/organization/organization.tsx")),
  "/help/:topic?": lazyScreen(() => import("./screens/help/help.tsx")),
  "/sites": lazyScreen(() => import("./screens/sites/sites.tsx")),
  "/sites/new": lazyScreen(() => import("./screens/sites/add-site.tsx")),
}
const ofPlugins = sections().map((owned) => ({ path: owned.section.path, Screen: lazyScreen(() => sectionScreen(owned)) }))

/** The pages that are about no site, apart from the router: whoever opens the overview need not load their list. */
export default function OtherScreens() {
  return (
    <Switch>
      {Object.entries(ofPeople).map(([path, Screen]) => (
        <Route key={path} path={path} component={Screen} />
      ))}
      {ofPlugins.map(({ path, Screen }) => (
        <Route key={path} path={`${path}/*?`} component={Screen} />
      ))}
      <Route component={NotFound} />
    </Switch>
  )
}
