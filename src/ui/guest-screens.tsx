import { Route, Switch } from "wouter"
import { lazyScreen } from "./lazy-screen.ts"
import { NotFound } from "./shell/system-pages.tsx"

const screens = {
  "/share/s/:slug": lazyScreen(() => import("./screens/share/shared-view.tsx")),
  "/setup": lazyScreen(() => import("./screens/access/setup.tsx")),
  "/signin": lazyScreen(() => import("./screens/access/sign-in.tsx")),
  "/signin/second-factor": lazyScreen(() => import("./screens/access/second-factor.tsx")),
  "/signin/link": lazyScreen(() => import("./screens/access/link-identity.tsx")),
  "/forgot": lazyScreen(() => import("./screens/access/forgot.tsx")),
  "/reset/:token": lazyScreen(() => import("./screens/access/reset.tsx")),
  "/confirm-email/:token": lazyScreen(() => import("./screens/access/confirm-email.tsx")),
  "/undo-email/:token": lazyScreen(() => import("./screens/access/undo-email.tsx")),
  "/invite/:token": lazyScreen(() => import("./screens/access/invite.tsx")),
}

/** The pages that need no account, apart from the router: whoever opens the overview need not load their list. */
export default function GuestScreens() {
  return (
    <Switch>
      {Object.entries(screens).map(([path, Screen]) => (
        <Route key={path} path={path} component={Screen} />
      ))}
      <Route component={NotFound} />
    </Switch>
  )
}
