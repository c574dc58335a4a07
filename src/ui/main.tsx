import { QueryClientProvider } from "@tanstack/react-query"
import { render } from "preact"
import { lazy, Suspense } from "preact/compat"
import { boot } from "./boot.ts"
import { lazyScreen } from "./lazy-screen.ts"
import { Toasts } from "./parts/toasts.tsx"
import { asked } from "./proof.ts"
import { createQuestionClient } from "./question-client.ts"
import { Router } from "./router.tsx"
import { Unasked } from "./shell/unasked.tsx"
import { inTurn } from "./turns.ts"

/** Forms of every factor: loaded when somebody is asked who they are. */
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

/** Both its beginning and its end load the page anew, so what the page came with says whether somebody is looked at. */
const ImpersonationBar = lazyScreen(() => import("./shell/impersonation-bar.tsx"))
const Impersonation = () =>
  boot.me?.impersonation ? (
    <Suspense fallback={<div class="impersonated" aria-hidden="true" />}>
      <ImpersonationBar />
    </Suspense>
  ) : null

// What was just loaded takes a while to begin: the page is drawn in a task of its own.
inTurn(() =>
  render(
    <QueryClientProvider client={createQuestionClient()}>
      <Router />
      <Impersonation />
      <Proof />
      <Toasts />
    </QueryClientProvider>,
    document.getElementById("app")!,
  ),
)

addEventListener("load", () => import("./later.ts").catch(() => {}))
