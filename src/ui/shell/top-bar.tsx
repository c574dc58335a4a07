import type { ComponentChildren } from "preact"
import { Suspense } from "preact/compat"
import { Link } from "wouter"
import { lazyPart } from "../lazy-screen.ts"
import { useMe } from "../me.ts"
import { Mark } from "../parts/mark.tsx"
import { AccountMenu } from "./account-menu.tsx"

const StateBar = lazyPart(() => import("./state-bar.tsx"))

/** For whoever can do something about it. */
const StateOfInstance = () =>
  useMe()?.user.is_instance_admin ? (
    <Suspense fallback={null}>
      <StateBar />
    </Suspense>
  ) : null

/** The bar over every page of somebody who is signed in. */
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
