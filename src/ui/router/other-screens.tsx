import { Route, Switch } from "wouter"
import { lazyScreen } from "../parts/loading.ts"
import { NotFound } from "../parts/states.tsx"
import { sections } from "../shell/plugin-pages.ts"
import { sectionScreen } from "../shell/section-frame.tsx"

const accountScreens = {
  "/account/:section?": lazyScreen(() => import("../screens/account/account.tsx")),
  "/org/:organization?/:section?": lazyScreen(() => import("../screens/organization/organization.tsx")),
  "/help/:topic?": lazyScreen(() => import("../screens/help/help.tsx")),
  "/sites": lazyScreen(() => import("../screens/sites/sites.tsx")),
  "/sites/new": lazyScreen(() => import("../screens/sites/add-site.tsx")),
}
const pluginScreens = sections().map((owned) => ({ path: owned.section.path, Screen: lazyScreen(() => sectionScreen(owned)) }))

/** Routes of the pages outside of a site. Loaded separately, so that the dashboard does not load the list. */
export default function OtherScreens() {
  return (
    <Switch>
      {Object.entries(accountScreens).map(([path, Screen]) => (
        <Route key={path} path={path} component={Screen} />
      ))}
      {pluginScreens.map(({ path, Screen }) => (
        <Route key={path} path={`${path}/*?`} component={Screen} />
      ))}
      <Route component={NotFound} />
    </Switch>
  )
}
