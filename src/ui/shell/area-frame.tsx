import type { ComponentType } from "preact"
import { Suspense } from "preact/compat"
import { Route, Switch } from "wouter"
import { useMe } from "../api/session.ts"
import { useSiteId } from "../browser/address.ts"
import { lazyScreen } from "../parts/loading.ts"
import { Forbidden, NotFound } from "../parts/states.tsx"
import { mayOpen, type OwnedArea, type SitePage } from "./plugin-pages.ts"
import { SiteShell } from "./site-shell.tsx"

/** Loads the site pages of a plugin, each in the frame of the site. Renders the 404 page while the plugin is off. */
export async function areaScreen({ plugin, area }: OwnedArea): Promise<{ default: ComponentType }> {
  const { default: pages } = await area.load()
  const screens = pages.map((page) => ({ page, Screen: lazyScreen(page.load) }))
  return { default: () => <Area plugin={plugin} area={area} screens={screens} /> }
}

type Screens = readonly { page: SitePage; Screen: ComponentType }[]

function Area({ plugin, area, screens }: OwnedArea & { screens: Screens }) {
  const me = useMe()
  const siteId = useSiteId()
  if (!me?.features.includes(plugin)) return <NotFound />
  if (!mayOpen(me, area, siteId))
    return (
      <SiteShell>
        <Forbidden permission={`open ${area.label}`} giver="An owner or admin of the organization" />
      </SiteShell>
    )
  return (
    <Switch>
      {screens.map(({ page, Screen }) => (
        <Route key={page.path} path={`/sites/:site${area.path}${page.path}`}>
          <SiteShell ranged={page.ranged === true}>
            <Suspense fallback={<div class="progress-line" />}>
              <Screen />
            </Suspense>
          </SiteShell>
        </Route>
      ))}
      <Route component={NotFound} />
    </Switch>
  )
}
