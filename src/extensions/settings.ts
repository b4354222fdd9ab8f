import type { Type } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import { validateSync, type ValidationError } from 'class-validator';
import type { Environment, SettingsReader } from '../config/config.js';
import { rulesOf } from '../input/input.pipe.js';
import type { Extension } from './define.js';

/** Readers that `loadConfig` uses to fill the settings of extensions. */
export function settingsOf(extensions: readonly Extension[]): SettingsReader[] {
  return extensions.flatMap((extension) => {
    const settings = extension?.settings;
    return settings === undefined ? [] : [(environment) => readSettings(settings, environment)];
  });
}

/**
 * Fills a settings class from environment variables: `maxOpenOrders` from `MAX_OPEN_ORDERS`. An
 * unset or empty variable leaves the default of the class. The rules decide whether a value is
 * text, a number or a boolean.
 */
export function readSettings(type: Type<object>, environment: Environment) {
  const given: Record<string, unknown> = {};
  for (const { propertyName } of rulesOf(type)) {
    const text = environment[variableOf(propertyName)]?.trim();
    if (text) given[propertyName] = text;
  }
  const fill = () => plainToInstance(type, given, { exposeDefaultValues: true });
  const texts = fill() as Record<string, unknown>;
  for (const { property } of validateSync(texts)) {
    // A value that `@Transform()` has changed is no longer the text.
    if (texts[property] === given[property]) given[property] = converted(given[property]);
  }
  const settings = fill();
  const faults = validateSync(settings).flatMap((error) =>
    messagesOf(error).map((message) => `${variableOf(error.property)}: ${message}`),
  );
  return { settings, faults };
}

function variableOf(name: string): string {
  return name.replace(/([a-z\d])([A-Z])/g, '$1_$2').toUpperCase();
}

function converted(text: unknown): unknown {
  if (text === 'true' || text === 'false') return text === 'true';
  return /^-?\d+(\.\d+)?$/.test(String(text)) ? Number(text) : text;
}

function messagesOf({ constraints = {}, children = [] }: ValidationError): string[] {
  return [...Object.values(constraints), ...children.flatMap(messagesOf)];
}
