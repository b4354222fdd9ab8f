import { CallHandler, ExecutionContext, Injectable, NestInterceptor } from '@nestjs/common';
import { Histogram } from 'prom-client';
import { finalize, Observable } from 'rxjs';

@Injectable()
export class DurationInterceptor implements NestInterceptor {
  private readonly durations = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the guards to the end of the handler.',
    labelNames: ['operation', 'method', 'status'],
  });

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const stop = this.durations.startTimer({ operation: context.getHandler().name });
    const http = context.switchToHttp();
    const { method } = http.getRequest<{ method: string }>();
    const reply = http.getResponse<{ statusCode: number }>();
    return next.handle().pipe(finalize(() => stop({ method, status: reply.statusCode })));
  }
}
