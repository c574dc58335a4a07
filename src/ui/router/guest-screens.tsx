import { Redirect, Route, Switch } from "wouter"
import { isGuestPath } from "../../domain/own-path.ts"
import { boot } from "../api/session.ts"
import { lazyScreen, ReloadPage } from "../parts/loading.ts"

const screens = {
  "/signin": lazyScreen(() => import("../screens/access/sign-in.tsx")),
  "/signin/second-factor": lazyScreen(() => import("../screens/access/sign-in-steps.tsx"), "SecondFactor"),
  "/signin/link": lazyScreen(() => import("../screens/access/sign-in-steps.tsx"), "LinkIdentity"),
  "/forgot": lazyScreen(() => import("../screens/access/password-reset.tsx"), "Forgot"),
  "/reset/:token": lazyScreen(() => import("../screens/access/password-reset.tsx"), "Reset"),
  "/confirm-email/:token": lazyScreen(() => import("../screens/access/email-links.tsx"), "ConfirmEmail"),
  "/undo-email/:token": lazyScreen(() => import("../screens/access/email-links.tsx"), "UndoEmail"),
  "/invite/:token": lazyScreen(() => import("../screens/access/invite.tsx")),
}
const NoSuchPage = lazyScreen(() => import("../screens/access/no-such-page.tsx"))
const Setup = lazyScreen(() => import("../screens/access/setup.tsx"))

/** Chooses among the pages that need no account. Any other page asks for a sign-in first. */
export function GuestRouter() {
  return (
    <Switch>
      <Route path="/setup" component={Setup} />
      {boot.setup_needed && <Route component={ToSetup} />}
      {Object.entries(screens).map(([path, Screen]) => (
        <Route key={path} path={path} component={Screen} />
      ))}
      <Route component={Elsewhere} />
    </Switch>
  )
}

const ToSetup = () => <Redirect to="/setup" replace />

/** Redirects to the sign-in page, which leads back to the requested page. Pages for signed-in users have another script. */
function Elsewhere() {
  if (isGuestPath(location.pathname)) return <NoSuchPage />
  if (boot.me) return <ReloadPage />
  return <Redirect to={`/signin?next=${encodeURIComponent(location.pathname + location.search)}`} replace />
}
