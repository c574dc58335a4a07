import { Route, Switch } from "wouter"
import { lazyScreen } from "./lazy-screen.ts"
import { areas } from "./plugin-pages.ts"
import { areaScreen } from "./shell/area-frame.tsx"
import { SiteShell } from "./shell/site-shell.tsx"
import { NotFound } from "./shell/system-pages.tsx"

const ofSite = {
  "/sites/:site/realtime": lazyScreen(() => import("./screens/realtime/realtime.tsx")),
  "/sites/:site/settings/:section?": lazyScreen(() => import("./screens/site-settings/site-settings.tsx")),
}
/** Those about a period. */
const ofRange = {
  "/sites/:site/events": lazyScreen(() => import("./screens/events/events.tsx")),
  "/sites/:site/campaigns": lazyScreen(() => import("./screens/campaigns/campaigns.tsx")),
  "/sites/:site/goals": lazyScreen(() => import("./screens/goals/goals.tsx")),
  "/sites/:site/funnels/:funnel?": lazyScreen(() => import("./screens/funnels/funnels.tsx")),
  "/sites/:site/journeys": lazyScreen(() => import("./screens/journeys/journeys.tsx")),
}
const ofPlugins = areas().map((owned) => ({ path: owned.area.path, Screen: lazyScreen(() => areaScreen(owned)) }))

/** The pages of a site beside its overview, apart from the router: whoever opens the overview need not load their list. */
export default function SiteScreens() {
  return (
    <Switch>
      {Object.entries(ofSite).map(([path, Screen]) => (
        <Route key={path} path={path}>
          <SiteShell>
            <Screen />
          </SiteShell>
        </Route>
      ))}
      {Object.entries(ofRange).map(([path, Screen]) => (
        <Route key={path} path={path}>
          <SiteShell ranged>
            <Screen />
          </SiteShell>
        </Route>
      ))}
      {ofPlugins.map(({ path, Screen }) => (
        <Route key={path} path={`/sites/:site${path}/*?`} component={Screen} />
      ))}
      <Route component={NotFound} />
    </Switch>
  )
}
