import { QueryClientProvider } from "@tanstack/react-query"
import { type ComponentType, render } from "preact"
import { lazy, Suspense } from "preact/compat"
import { useEffect } from "preact/hooks"
import { createQueryClient, identityRequest } from "./api/api.ts"
import { boot } from "./api/session.ts"
import { inTurn, lazyScreen } from "./parts/loading.ts"
import { Toasts, toast } from "./parts/toasts.tsx"

/** The dialog that confirms the user's identity, loaded when needed because it contains the forms of all factors. */
const IdentityDialog = lazy(() =>
  import("./shell/identity-dialog.tsx").then(
    ({ IdentityDialog }) => ({ default: IdentityDialog }),
    () => ({ default: DialogMissing }),
  ),
)

const Identity = () =>
  identityRequest.use() ? (
    <Suspense fallback={<div class="progress-line" />}>
      <IdentityDialog />
    </Suspense>
  ) : null

/** The bar shown during impersonation. Starting and stopping reload the page, so the embedded data is up to date. */
const ImpersonationBar = lazyScreen(() => import("./shell/status-bars.tsx"), "ImpersonationBar")
const Impersonation = () =>
  boot.me?.impersonation ? (
    <Suspense fallback={<div class="impersonated" aria-hidden="true" />}>
      <ImpersonationBar />
    </Suspense>
  ) : null

/** Renders the router, and the dialogs and toasts that can appear on every page. */
export function start(Router: ComponentType): void {
  // Renders in a task of its own, because evaluating the script has already taken a while.
  inTurn(() =>
    render(
      <QueryClientProvider client={createQueryClient()}>
        <Suspense fallback={<div class="progress-line" />}>
          <Router />
        </Suspense>
        <Impersonation />
        <Identity />
        <Toasts />
      </QueryClientProvider>,
      document.getElementById("app")!,
    ),
  )
  addEventListener("load", () => import("./later.ts").catch(() => {}))
}

/** Cancels the request to confirm the identity if its dialog cannot be loaded, because a newer build runs. The page keeps its input. */
function DialogMissing() {
  useEffect(() => {
    const text = "A new version of Footfall is available. Copy anything you've typed, then reload the page."
    identityRequest.get()?.cancel(text)
    toast(text)
  }, [])
  return null
}
