import type { ComponentChildren } from "preact"
import { Suspense } from "preact/compat"
import { Link } from "wouter"
import { useMe } from "../api/session.ts"
import { Mark } from "../parts/icon.tsx"
import { lazyPart } from "../parts/loading.ts"
import { AccountMenu } from "./account-menu.tsx"

const StateBar = lazyPart(() => import("./state-bar.tsx"))

/** Shows the state of the instance to instance admins. */
const StateOfInstance = () =>
  useMe()?.user.is_instance_admin ? (
    <Suspense fallback={null}>
      <StateBar />
    </Suspense>
  ) : null

/** Renders the top bar of every page of a signed-in user. */
export const TopBar = ({ children, tools }: { children?: ComponentChildren; tools?: ComponentChildren }) => (
  <>
    <header class="top-bar">
      <a class="button skip-link" href="#main">
        Skip to content
      </a>
      <Link href="/sites" class="mark" aria-label="All sites">
        <Mark />
      </Link>
      {children}
      <span class="grow" />
      {tools}
      <AccountMenu />
    </header>
    <StateOfInstance />
  </>
)
