import type { ComponentChildren } from "preact"
import type { ButtonHTMLAttributes } from "preact/compat"
import { Link } from "wouter"
import { Icon, type IconName } from "./icon.tsx"

/** `primary`: at most one per view · `danger`: opens a confirmation · `confirm`: confirms it · `quiet`: without a border. */
type Kind = "plain" | "primary" | "danger" | "confirm" | "quiet"

interface ButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, "icon"> {
  kind?: Kind
  icon?: IconName
  /** Whether the action is in progress; the button is disabled meanwhile. */
  busy?: boolean
  children: ComponentChildren
}

export const Button = ({ kind = "plain", icon, busy = false, disabled, children, type = "button", ...others }: ButtonProps) => (
  <button class="button" data-kind={kind} type={type} disabled={disabled || busy} aria-busy={busy} {...others}>
    {icon && <Icon name={icon} />}
    {children}
  </button>
)

interface IconButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, "icon" | "label"> {
  icon: IconName
  /** Accessible name, also shown as the title. */
  label: string
}

export const IconButton = ({ icon, label, type = "button", ...others }: IconButtonProps) => (
  <button class="button" data-kind="quiet" data-icon type={type} aria-label={label} title={label} {...others}>
    <Icon name={icon} />
  </button>
)

export const ButtonLink = ({
  href,
  kind = "plain",
  icon,
  children,
}: {
  href: string
  kind?: Kind
  icon?: IconName
  children: ComponentChildren
}) => (
  <Link href={href} class="button" data-kind={kind}>
    {icon && <Icon name={icon} />}
    {children}
  </Link>
)
