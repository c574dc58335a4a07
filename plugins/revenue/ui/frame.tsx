import type { ComponentChildren } from "preact"
import { Link, useLocation } from "wouter"
import { Page } from "#plugin/ui"
import { revenueAddress } from "./answers.ts"

const PAGES = [
  { path: "", label: "Report" },
  { path: "/transactions", label: "Transactions" },
  { path: "/rates", label: "Exchange rates" },
  { path: "/settings", label: "Settings" },
] as const

interface RevenuePageProps {
  siteId: number
  title: string
  actions?: ComponentChildren
  children: ComponentChildren
}

/** A page of the area, with the links to the others. */
export function RevenuePage({ siteId, title, actions, children }: RevenuePageProps) {
  const [path] = useLocation()
  const base = revenueAddress(siteId)
  return (
    <Page title={title} actions={actions}>
      <nav class="tabs page-tabs" aria-label="Revenue">
        {PAGES.map(({ path: below, label }) => {
          const isHere = below === "" ? path === base : path.startsWith(base + below)
          return (
            <Link key={below} href={base + below} class="tab" aria-current={isHere ? "page" : undefined}>
              {label}
            </Link>
          )
        })}
      </nav>
      {children}
    </Page>
  )
}
