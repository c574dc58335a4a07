import { QueryClientProvider } from "@tanstack/react-query"
import { type ComponentType, render } from "preact"
import { lazy, Suspense } from "preact/compat"
import { boot } from "./api/boot.ts"
import { asked } from "./api/proof.ts"
import { createQueryClient } from "./api/query-client.ts"
import { inTurn } from "./browser/yielding.ts"
import { lazyScreen } from "./parts/lazy-screen.ts"
import { Toasts } from "./parts/toasts.tsx"
import { Unasked } from "./shell/unasked.tsx"

/** The dialog that confirms the user's identity, loaded when needed because it contains the forms of all factors. */
const ProofDialog = lazy(() =>
  import("./shell/proof-dialog.tsx").then(
    ({ ProofDialog }) => ({ default: ProofDialog }),
    () => ({ default: Unasked }),
  ),
)

const Proof = () =>
  asked.use() ? (
    <Suspense fallback={<div class="progress-line" />}>
      <ProofDialog />
    </Suspense>
  ) : null

/** The bar shown during impersonation. Starting and stopping reload the page, so the embedded data is up to date. */
const ImpersonationBar = lazyScreen(() => import("./shell/impersonation-bar.tsx"))
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
        <Proof />
        <Toasts />
      </QueryClientProvider>,
      document.getElementById("app")!,
    ),
  )
  addEventListener("load", () => import("./later.ts").catch(() => {}))
}
