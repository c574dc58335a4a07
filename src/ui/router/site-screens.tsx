import type { ComponentType } from "preact"
import { Suspense } from "preact/compat"
import { Route, Switch } from "wouter"
import { useMe } from "../api/session.ts"
import { useSiteId } from "../browser/address.ts"
import { Forbidden } from "../parts/forbidden.tsx"
import { lazyScreen, withAreaStyles } from "../parts/loading.ts"
import { areas, canOpen, type OwnedArea, type SitePage } from "../shell/plugin-pages.ts"
import { NoSuchPage } from "../shell/sections-shell.tsx"
import { SiteShell } from "../shell/site-shell.tsx"

const plainScreens = {
  "/sites/:site/realtime": lazyScreen(() => import("../screens/realtime/realtime.tsx")),
  "/sites/:site/settings/:section?": lazyScreen(() => import("../screens/site-settings/site-settings.tsx")),
}
/** Screens with a period. */
const rangedScreens = {
  "/sites/:site/events": lazyScreen(() => import("../screens/events/events.tsx")),
  "/sites/:site/web-vitals": lazyScreen(() => import("../screens/web-vitals/web-vitals.tsx")),
  "/sites/:site/campaigns": lazyScreen(() => import("../screens/campaigns/campaigns.tsx")),
  "/sites/:site/goals": lazyScreen(() => import("../screens/goals/goals.tsx")),
  "/sites/:site/funnels/:funnel?": lazyScreen(() => import("../screens/funnels/funnels.tsx")),
  "/sites/:site/journeys": lazyScreen(() => import("../screens/journeys/journeys.tsx")),
}
/** Screens with a period and filters that compare nothing. */
const uncomparedScreens = {
  "/sites/:site/visits/:visit?": lazyScreen(() => import("../screens/visits/visits.tsx")),
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
      {Object.entries(uncomparedScreens).map(([path, Screen]) => (
        <Route key={path} path={path}>
          <SiteShell ranged="uncompared">
            <Screen />
          </SiteShell>
        </Route>
      ))}
      {pluginScreens.map(({ path, Screen }) => (
        <Route key={path} path={`/sites/:site${path}/*?`} component={Screen} />
      ))}
      <Route component={NoSuchPage} />
    </Switch>
  )
}

/** Loads the site pages of a plugin, each in the frame of the site. Renders the 404 page while the plugin is off. */
async function areaScreen({ plugin, area }: OwnedArea): Promise<{ default: ComponentType }> {
  const { default: pages } = await withAreaStyles(area.load)()
  const screens = pages.map((page) => ({ page, Screen: lazyScreen(page.load) }))
  return { default: () => <Area plugin={plugin} area={area} screens={screens} /> }
}

type Screens = readonly { page: SitePage; Screen: ComponentType }[]

function Area({ plugin, area, screens }: OwnedArea & { screens: Screens }) {
  const me = useMe()
  const siteId = useSiteId()
  if (!me?.features.includes(plugin)) return <NoSuchPage />
  if (!canOpen(me, area, siteId))
    return (
      <SiteShell>
        <Forbidden permission={`open ${area.label}`} />
      </SiteShell>
    )
  return (
    <Switch>
      {screens.map(({ page, Screen }) => (
        <Route key={page.path} path={`/sites/:site${area.path}${page.path}`}>
          <SiteShell ranged={page.ranged ?? false}>
            <Suspense fallback={<div class="progress-line" />}>
              <Screen />
            </Suspense>
          </SiteShell>
        </Route>
      ))}
      <Route component={NoSuchPage} />
    </Switch>
  )
}
