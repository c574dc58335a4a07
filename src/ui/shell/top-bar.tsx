import type { ComponentChildren } from "preact"
import { Suspense } from "preact/compat"
import { Link } from "wouter"
import { useMe } from "../api/session.ts"
import { Mark } from "../parts/icon.tsx"
import { lazyPart } from "../parts/loading.ts"
import { Popover } from "../parts/menu.tsx"
import { canOpen, sections } from "./plugin-pages.ts"

const AccountItems = lazyPart(() => import("./shell-menus.tsx"), "AccountItems")
const StateBar = lazyPart(() => import("./status-bars.tsx"), "StateBar")

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

/** Renders the menu with the user's account, organizations, plugin sections, help and sign-out. */
function AccountMenu() {
  const me = useMe()
  if (!me) return null
  const initials = me.user.name
    .split(/\s+/)
    .slice(0, 2)
    .map((word) => word.charAt(0).toUpperCase())
    .join("")
  const ofPlugins = sections().filter(({ plugin, section }) => me.features.includes(plugin) && canOpen(me, section))
  return (
    <Popover button={initials || "?"} label={`${initials || "?"}: account of ${me.user.name}`} kind="quiet">
      {() => (
        <Suspense fallback={null}>
          <AccountItems me={me} ofPlugins={ofPlugins} />
        </Suspense>
      )}
    </Popover>
  )
}
