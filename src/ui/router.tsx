import { Suspense } from "preact/compat"
import { Redirect, Route, Switch } from "wouter"
import { boot } from "./boot.ts"
import { lazyScreen } from "./lazy-screen.ts"
import { Dashboard } from "./screens/dashboard/dashboard.tsx"
import { SiteShell } from "./shell/site-shell.tsx"

/** Every screen but the dashboard is loaded when it is opened. Addresses are those of `src/domain/dashboard-path.ts`. */
const GuestScreens = lazyScreen(() => import("./guest-screens.tsx"))
const SiteScreens = lazyScreen(() => import("./site-screens.tsx"))
const OtherScreens = lazyScreen(() => import("./other-screens.tsx"))

/** First words of the pages that need no account. */
const OPEN = /^\/(setup|signin|forgot|reset|confirm-email|undo-email|invite|share)(\/|$)/

/** All sites, and a new one: no site has one of these addresses. */
const SITES = /^\/sites(\/new)?\/?$/

export function Router() {
  return (
    <Suspense fallback={<div class="progress-line" />}>
      <Switch>
        {boot.setup_needed && <Route path="/setup" component={GuestScreens} />}
        {boot.setup_needed && <Route component={ToSetup} />}
        <Route path={OPEN} component={GuestScreens} />
        {!boot.me && <Route component={ToSignIn} />}
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
    </Suspense>
  )
}

/** With one site there is nothing to choose. */
function startPage(): string {
  const sites = boot.me?.sites ?? []
  return sites.length === 1 ? `/sites/${sites[0]!.id}` : "/sites"
}

/** Back to the page that was wanted, afterwards. */
const ToSignIn = () => <Redirect to={`/signin?next=${encodeURIComponent(location.pathname + location.search)}`} replace />

const ToSetup = () => <Redirect to="/setup" replace />

/** A policy asks for a second factor first: nothing but the own account is open. */
const ToSecurity = () => <Redirect to="/account/security" replace />
