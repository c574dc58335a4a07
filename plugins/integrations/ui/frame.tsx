import type { ComponentChildren } from "preact"
import { Link, useLocation } from "wouter"
import { Icon, Page, Problem } from "#plugin/ui"
import type { TestResponse } from "../responses.ts"
import { integrationsAddress, type Tone, useRights } from "./answers.ts"

interface IntegrationsPageProps {
  siteId: number
  title: string
  actions?: ComponentChildren
  /** The page that lists this one and others like it. */
  parent?: { href: string; label: string }
  children: ComponentChildren
}

/** A page of the area, with the links to the others that the user may open. */
export function IntegrationsPage({ siteId, title, actions, parent, children }: IntegrationsPageProps) {
  const [path] = useLocation()
  const { writesWebhooks } = useRights(siteId)
  const base = integrationsAddress(siteId)
  const pages = [
    { below: "", label: "Overview", isHere: path === base || path.startsWith(`${base}/connections/`) },
    ...(writesWebhooks ? [{ below: "/webhooks", label: "Webhooks", isHere: path.startsWith(`${base}/webhooks`) }] : []),
    { below: "/alerts", label: "Alerts", isHere: path.startsWith(`${base}/alerts`) },
    { below: "/payments", label: "Payments", isHere: path.startsWith(`${base}/payments`) },
  ]
  return (
    <Page title={title} actions={actions} {...(parent && { parent })}>
      <nav class="tabs page-tabs" aria-label="Integrations">
        {pages.map(({ below, label, isHere }) => (
          <Link key={below} href={base + below} class="tab" aria-current={isHere ? "page" : undefined}>
            {label}
          </Link>
        ))}
      </nav>
      {children}
    </Page>
  )
}

/** A state in words, after a dot in its colour. */
export const StateText = ({ tone, children }: { tone: Tone; children: ComponentChildren }) => (
  <span class="state-text">
    <span class="dot" data-state={tone} aria-hidden="true" />
    <span>{children}</span>
  </span>
)

/** The steps of a test, with what happened in each. */
export const TestSteps = ({ of }: { of: TestResponse["steps"] }) => (
  <ol class="test-steps">
    {of.map(({ name, ok, detail }) => (
      <li key={name}>
        <span class={ok ? "up" : "down"}>
          <Icon name={ok ? "check" : "close"} />
        </span>
        <span>
          <strong>{STEP_LABELS[name] ?? name}</strong> <span class="visually-hidden">{ok ? "succeeded" : "failed"}.</span>
          <span class="remedy quiet">{detail}</span>
        </span>
      </li>
    ))}
  </ol>
)

const STEP_LABELS: Readonly<Record<string, string>> = {
  message: "Send a test message",
  secret: "Read the stored secret",
  access: "Get access",
  properties: "List the properties",
  property: "Find the property",
  request: "Send a request",
}

/** Steps of a test that failed, from the problem of a request. */
export function FailedSteps({ problem }: { problem: Error | undefined }) {
  const steps = problem instanceof Problem && problem.code === "connection_failed" ? problem.members.steps : undefined
  return Array.isArray(steps) ? <TestSteps of={steps as TestResponse["steps"]} /> : null
}
