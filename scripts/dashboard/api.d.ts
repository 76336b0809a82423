/** What the control API takes and gives, by the names that the dashboard uses; all of it from its OpenAPI document. */

import type { components, paths } from "openapi";

type Schemas = components["schemas"];
export type Access = Schemas["Access"];
export type Alert = Schemas["Alert"];
export type AuditEntry = Schemas["AuditEntry"];
export type Change = Schemas["Change"];
export type Command = Schemas["Command"];
export type CommandInfo = Schemas["CommandInfo"];
export type ControlNodeView = Schemas["ControlNodeView"];
export type CrawlList = Schemas["CrawlList"];
export type CrawlRow = Schemas["CrawlRow"];
export type CrawlEvent = Schemas["Event"];
export type DoubtedPattern = Schemas["DoubtedPattern"];
export type EventKind = Schemas["EventKind"];
export type History = Schemas["History"];
export type HostDetail = Schemas["HostDetail"];
export type HostAction = Schemas["HostAction"];
export type HostRow = Schemas["HostRow"];
export type HostSort = Schemas["HostSort"];
export type HostStanding = Schemas["HostStanding"];
export type InnerView = Schemas["InnerView"];
export type LastVisit = Schemas["LastVisit"];
export type LoggedVisit = Schemas["LoggedVisit"];
export type LearntParameter = Schemas["LearntParameter"];
export type NewCrawl = Schemas["NewCrawl"];
export type NodeCommand = Schemas["NodeCommand"];
export type NodeView = Schemas["NodeView"];
export type OutcomeView = Schemas["OutcomeView"];
export type PartitionMap = Schemas["PartitionMap"];
export type PartitionView = Schemas["PartitionView"];
export type Problem = Schemas["Problem"];
export type QueuePlace = Schemas["QueuePlace"];
export type RobotsView = Schemas["RobotsView"];
export type QueuedUrl = Schemas["QueuedUrl"];
export type RobotsText = Schemas["RobotsText"];
export type RunPage = Schemas["RunPage"];
export type RunView = Schemas["RunView"];
export type SeedFate = Schemas["SeedFate"];
export type SeedSubmission = Schemas["SeedSubmission"];
export type SettingsView = Schemas["SettingsView"];
export type SettingView = Schemas["SettingView"];
export type StoredPage = Schemas["StoredPage"];
export type Status = Schemas["Status"];
export type SubmissionFates = Schemas["SubmissionFates"];
export type UrlAccount = Schemas["UrlAccount"];
export type VisitLine = Schemas["VisitLine"];
export type VisitPage = Schemas["VisitPage"];
export type WaitView = Schemas["WaitView"];

type Root = "/api/v1";
type Method = "get" | "post" | "patch";
type Operation<M extends Method, P extends string> = `${Root}${P}` extends infer Full extends keyof paths
  ? M extends keyof paths[Full] ? paths[Full][M] : never
  : never;

/** The routes of a method, without their common beginning. */
export type Route<M extends Method> = {
  [Full in keyof paths]: Full extends `${Root}${infer P}` ? (paths[Full] extends { [K in M]: object } ? P : never) : never;
}[keyof paths];

/** What a route answers when it does what was asked. */
export type Answer<M extends Method, P extends string> = Operation<M, P> extends {
  responses: { 200: { content: { "application/json": infer A } } };
} ? A : Operation<M, P> extends { responses: { 201: { content: { "application/json": infer A } } } } ? A : never;

type PathOf<O> = O extends { parameters: { path: infer A extends object } } ? { path: A } : { path?: never };
type QueryOf<O> = O extends { parameters: { query: infer A extends object } }
  ? { query: A }
  : O extends { parameters: { query?: infer A extends object } } ? { query?: A } : { query?: never };
type BodyOf<O> = O extends { requestBody: { content: { "application/json": infer A extends object } } } ? { body: A } : { body?: never };

/** What a request brings: the parts of the path by name, the query, the body. */
export type Asked<M extends Method, P extends string> = PathOf<Operation<M, P>> &
  QueryOf<Operation<M, P>> &
  BodyOf<Operation<M, P>> & { signal?: AbortSignal };
