import { Route, Switch } from "wouter"
import { lazyScreen } from "../parts/loading.ts"
import { NotFound } from "../parts/states.tsx"
import { areaScreen } from "../shell/area-frame.tsx"
import { areas } from "../shell/plugin-pages.ts"
import { SiteShell } from "../shell/site-shell.tsx"

const plainScreens = {
  "/sites/:site/realtime": lazyScreen(() => import("../screens/realtime/realtime.tsx")),
  "/sites/:site/settings/:section?": lazyScreen(() => import("../screens/site-settings/site-settings.tsx")),
}
/** Screens with a period. */
const rangedScreens = {
  "/sites/:site/events": lazyScreen(() => import("../screens/events/events.tsx")),
  "/sites/:site/campaigns": lazyScreen(() => import("../screens/campaigns/campaigns.tsx")),
  "/sites/:site/goals": lazyScreen(() => import("../screens/goals/goals.tsx")),
  "/sites/:site/funnels/:funnel?": lazyScreen(() => import("../screens/funnels/funnels.tsx")),
  "/sites/:site/journeys": lazyScreen(() => import("../screens/journeys/journeys.tsx")),
}
const pluginScreens = areas().map((owned) => ({ path: owned.area.path, Screen: lazyScreen(() => areaScreen(owned)) }))

/** Routes of a site's pages other than the dashboard. Loaded separately, so that the dashboard does not load the list. */
export default function SiteScreens() {
  return (
    <Switch>
      {Object.entries(plainScreens).map(([path, Screen]) => (
        <Route key={path} path={path}>
          <SiteShell>
            <Screen />
          </SiteShell>
        </Route>
      ))}
      {Object.entries(rangedScreens).map(([path, Screen]) => (
        <Route key={path} path={path}>
          <SiteShell ranged>
            <Screen />
          </SiteShell>
        </Route>
      ))}
      {pluginScreens.map(({ path, Screen }) => (
        <Route key={path} path={`/sites/:site${path}/*?`} component={Screen} />
      ))}
      <Route component={NotFound} />
    </Switch>
  )
}
