import { Redirect, Route, Switch, useLocation } from "wouter"
import { isGuestPath } from "../../domain/own-path.ts"
import { boot } from "../api/session.ts"
import { lazyScreen, ReloadPage } from "../parts/loading.ts"
import { Dashboard } from "../screens/dashboard/dashboard.tsx"
import { SiteShell } from "../shell/site-shell.tsx"

/** Routes of the dashboard. All screens but the dashboard itself are loaded when opened. The paths match `src/domain/dashboard-path.ts`. */
const SiteScreens = lazyScreen(() => import("./site-screens.tsx"))
const OtherScreens = lazyScreen(() => import("./other-screens.tsx"))

/** Paths of the list of sites and the form for a new one, which would otherwise match `/sites/:site`. */
const SITES = /^\/sites(\/new)?\/?$/

/** Routes the pages for signed-in users. */
export function Router() {
  const [path] = useLocation()
  if (isGuestPath(path) || path.startsWith("/share/")) return <ReloadPage />
  return (
    <Switch>
      {!boot.me && <Route component={ReloadPage} />}
      {boot.factor_missing && <Route path="/account/:section?" component={OtherScreens} />}
      {boot.factor_missing && <Route component={ToSecurity} />}
      <Route path="/">
        <Redirect to={boot.me?.user.start_page ?? startPage()} replace />
      </Route>
      <Route path={SITES} component={OtherScreens} />
      <Route path="/sites/:site/details/:dimension">
        <SiteShell ranged>
          <Dashboard />
        </SiteShell>
      </Route>
      <Route path="/sites/:site">
        <SiteShell ranged>
          <Dashboard />
        </SiteShell>
      </Route>
      <Route path="/sites/:site/*" component={SiteScreens} />
      <Route component={OtherScreens} />
    </Switch>
  )
}

/** Returns the default start page: the only site, or the list of sites. */
function startPage(): string {
  const sites = boot.me?.sites ?? []
  return sites.length === 1 ? `/sites/${sites[0]!.id}` : "/sites"
}

/** Redirects to the security settings, because a policy requires a second factor before anything else. */
const ToSecurity = () => <Redirect to="/account/security" replace />
