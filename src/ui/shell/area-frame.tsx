import type { ComponentType } from "preact"
import { Suspense } from "preact/compat"
import { Route, Switch } from "wouter"
import { useSiteId } from "../address.ts"
import { lazyScreen } from "../lazy-screen.ts"
import { useMe } from "../me.ts"
import { mayOpen, type OwnedArea, type SitePage } from "../plugin-pages.ts"
import { SiteShell } from "./site-shell.tsx"
import { Forbidden, NotFound } from "./system-pages.tsx"

/** The pages of a site that a plugin brings, each in the frame of the site. Of a plugin that is off nothing is there. */
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
